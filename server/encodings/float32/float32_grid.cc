#include <memory>
#include <utility>

#include "server/encodings/float32/float32_elements.h"
#include "server/encodings/float32/float32_generator.h"
#include "server/encodings/float32/grid_coordinates.h"
#include "server/encodings/float32/rounded_math.h"
#include "server/encodings/sinusoidal/grid_generator.h"

namespace posenc {
namespace {

// The angles of one index of an axis, computed together, since a call asks for all pairs of an index.
class IndexAngles {
 public:
  float At(const Float32Table& table, int64_t k, int64_t j) {
    const auto axis = static_cast<size_t>(table.form.AxisOf(k));
    if (angles_.empty() || axis != axis_ || j != index_) {
      angles_ = table.angles.At(j < 0 ? 0.0F : CoordinateF32(*table.form.grid, axis, j));
      axis_ = axis;
      index_ = j;
    }
    return angles_[static_cast<size_t>(k)];
  }

 private:
  std::vector<float> angles_;
  size_t axis_ = 0;
  int64_t index_ = 0;
};

CellBits CellAt(const Float32Table& table, float angle) {
  const ElementType type = table.form.element_type;
  if (table.cells != Float32Cells::kPhasors) return {.cos = ElementOf(type, angle)};
  const CosSinF32 value = CosSinOf(angle);
  return {ElementOf(type, value.cos * table.magnitude), ElementOf(type, value.sin * table.magnitude)};
}

}  // namespace

std::shared_ptr<const TableGenerator> MakeFloat32Grid(Float32Table table) {
  const auto shared = std::make_shared<const Float32Table>(std::move(table));
  const auto start = [shared]() -> CellFunction {
    return [shared, angles = IndexAngles()](int64_t k, int64_t j) mutable {
      return CellAt(*shared, angles.At(*shared, k, j));
    };
  };
  return std::make_shared<GridGenerator>(shared->form, FactsOf(*shared), start,
                                         shared->angles.footprint_bytes());
}

}  // namespace posenc
