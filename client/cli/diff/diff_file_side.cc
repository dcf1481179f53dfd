// The sides of a comparison that are files of numbers.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/diff/diff_side.h"
#include "client/cli/output/number_text.h"
#include "server/models/tensors/tensor_file.h"

namespace posenc::cli {
namespace {

// "x.npy:cos" is a file and a tensor.
struct FileName {
  std::string file = {};
  std::string tensor = {};
};

FileName ParseFileName(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(text)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool IsRaw(const std::string& file) { return absl::EndsWith(file, ".bin") || absl::EndsWith(file, ".raw"); }

// A shape without dimensions of 1, such as a leading batch axis, and with complex numbers as pairs.
std::vector<int64_t> Essential(const TensorInfo& info) {
  std::vector<int64_t> shape = info.shape;
  if (PartsOf(info.element_type) == 2) shape.push_back(2);
  std::erase(shape, 1);
  return shape;
}

std::string ShapeText(const TensorInfo& info) { return absl::StrCat("[", absl::StrJoin(info.shape, ", "), "]"); }

// Rows by index of the tensors; what selects them as a server would.
TableShape ShapeOf(const std::vector<TensorInfo>& tensors, size_t rank, bool heads) {
  TableShape shape;
  const std::vector<int64_t>& first = tensors.front().shape;
  shape.row_dims = {first.begin(), first.begin() + static_cast<int64_t>(rank)};
  for (const TensorInfo& info : tensors) {
    TensorShape& tensor = shape.tensors.emplace_back();
    tensor.name = info.name;
    tensor.element_type = info.element_type;
    tensor.row_shape = {info.shape.begin() + static_cast<int64_t>(rank), info.shape.end()};
    if (tensor.row_shape.empty()) tensor.row_shape = {1};
  }
  shape.row_kind = rank == 2 ? RowKind::kHeadQueries : rank == 0 ? RowKind::kSingle : RowKind::kPositions;
  if (heads) shape.row_kind = RowKind::kHeads;
  shape.positions_end = shape.row_dims.empty() ? 0 : shape.row_dims.front();
  return shape;
}

class FileSide : public DiffSide {
 public:
  struct Tensor {
    TensorInfo info = {};
    StoredTensor stored = {};
  };

  // `other` may be null. The tensors' names are those of the other side.
  Outcome Open(const DiffRequest& request, const std::string& name, std::vector<Tensor> tensors,
               const DiffSide* other) {
    name_ = name;
    rank_ = other ? other->rank() : 1;
    for (Tensor& tensor : tensors) {
      whole_.push_back(tensor.info);
      data_.push_back(tensor.stored);
    }
    if (other != nullptr && FitsPartOf(*other)) return TakeShapes(other->tensors());
    if (other != nullptr) {
      if (Outcome outcome = TakeShapes(other->whole()); !outcome.ok()) return outcome;
    }
    if (whole_.front().shape.size() < rank_) return Usage(absl::StrCat(name, " has too few dimensions"));
    return Select(request, other);
  }

  Outcome Read(int64_t begin, int64_t end, std::vector<std::vector<std::byte>>& rows) override {
    rows.assign(tensors_.size(), {});
    for (int64_t row = begin; row < end; ++row) {
      const int64_t stored = RowOf(row);
      for (size_t i = 0; i < rows.size(); ++i) {
        const TensorShape& tensor = shape_.tensors[i];
        const std::byte* from = data_[i].data.data() + stored * tensor.row_bytes();
        rows[i].insert(rows[i].end(), from + plan_.column_begin * tensor.column_bytes(),
                       from + plan_.column_end * tensor.column_bytes());
      }
    }
    return {};
  }

 private:
  static const TensorInfo* Find(const std::vector<TensorInfo>& tensors, const std::string& name) {
    for (const TensorInfo& info : tensors) {
      if (info.name == name) return &info;
    }
    return nullptr;
  }

  // Whether the file holds just the part that is compared.
  bool FitsPartOf(const DiffSide& other) const {
    return std::ranges::all_of(whole_, [&](const TensorInfo& info) {
      const TensorInfo* part = Find(other.tensors(), info.name);
      return part != nullptr && Essential(*part) == Essential(info);
    });
  }

  // Gives the file's tensors the shapes that they have on the other side.
  Outcome TakeShapes(const std::vector<TensorInfo>& others) {
    for (TensorInfo& info : whole_) {
      const TensorInfo* other = Find(others, info.name);
      if (other == nullptr) return Usage(absl::StrCat(name_, " has no tensor of the other side"));
      const bool same = Essential(*other) == Essential(info);
      if (!same) {
        return Usage(absl::StrCat(name_, " has ", ShapeText(info), " where the other side has ", other->name, " ",
                                  ShapeText(*other)));
      }
      info.shape = other->shape;
      // A pair of numbers is read as a complex one.
      if (PartsOf(other->element_type) == 2 && PartsOf(info.element_type) == 1) info.shape.push_back(2);
    }
    tensors_ = whole_;
    shape_ = ShapeOf(whole_, rank_, false);
    plan_ = *ResolveSelection({}, shape_);
    return {};
  }

  Outcome Select(const DiffRequest& request, const DiffSide* other) {
    const auto* alibi = other && other->spec() ? std::get_if<AlibiSpec>(&other->spec()->family) : nullptr;
    shape_ = ShapeOf(whole_, rank_, alibi != nullptr && rank_ == 1);
    const absl::StatusOr<SlicePlan> plan = ResolveSelection(request.selection, shape_);
    if (!plan.ok()) return RpcError(plan.status());
    plan_ = *plan;
    tensors_ = whole_;
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].shape = plan_.TensorDims(shape_.tensors[i]);
    return {};
  }

  int64_t RowOf(int64_t row) const {
    if (!plan_.positions.empty()) return RowOfPosition(shape_, plan_, row).value_or(0);
    for (const RowRun& run : plan_.runs) {
      if (row < run.count()) return run.begin + row;
      row -= run.count();
    }
    return 0;
  }

  std::vector<StoredTensor> data_;
  TableShape shape_;
  SlicePlan plan_;
};

// The tensors of a file that the other side has too, under its names.
Outcome ReadTensors(const FileName& name, const DiffSide* other, std::vector<FileSide::Tensor>& tensors) {
  const absl::StatusOr<TensorFile> file = TensorFile::Open(name.file);
  if (!file.ok()) return Usage(std::string(file.status().message()));
  for (const TensorEntry& entry : file->tensors()) {
    const bool unnamed = entry.name.empty();
    if (!name.tensor.empty() && !unnamed && entry.name != name.tensor) continue;
    std::string known_as = unnamed ? name.tensor : entry.name;
    if (other != nullptr) {
      const bool only = other->tensors().size() == 1 && (file->tensors().size() == 1 || !name.tensor.empty());
      if (only) known_as = other->tensors().front().name;
      const bool shared = std::ranges::any_of(
          other->tensors(), [&](const TensorInfo& info) { return info.name == known_as; });
      if (!shared) continue;
    }
    absl::StatusOr<StoredTensor> stored = file->Get(entry.name);
    if (!stored.ok()) return Usage(std::string(stored.status().message()));
    tensors.push_back({{known_as, stored->element_type, stored->shape}, *stored});
  }
  if (!tensors.empty()) return {};
  std::vector<std::string> names;
  for (const TensorInfo& info : other ? other->tensors() : std::vector<TensorInfo>()) names.push_back(info.name);
  return Usage(absl::StrCat(name.file, " has no such tensor", names.empty() ? "" : "; the other side has ",
                            absl::StrJoin(names, ", "), "; name one after a colon, as in x.npy:cos"));
}

size_t BytesOf(const TensorInfo& info) {
  size_t bytes = ElementSizeBytes(info.element_type);
  for (int64_t dim : info.shape) bytes *= static_cast<size_t>(dim);
  return bytes;
}

// Raw bytes: the other side's tensors one after the other.
Outcome ReadRaw(const std::string& file, const DiffSide* other, std::vector<FileSide::Tensor>& tensors) {
  if (other == nullptr) return Usage(absl::StrCat(file, " says nothing of its shape, and neither does the other file"));
  auto text = std::make_shared<std::string>();
  if (Outcome outcome = ReadFile(file, *text); !outcome.ok()) return outcome;
  for (const std::vector<TensorInfo>* shapes : {&other->tensors(), &other->whole()}) {
    size_t offset = 0;
    for (const TensorInfo& info : *shapes) offset += BytesOf(info);
    if (offset != text->size()) continue;
    offset = 0;
    for (const TensorInfo& info : *shapes) {
      const auto* data = reinterpret_cast<const std::byte*>(text->data()) + offset;
      tensors.push_back({info, {.element_type = info.element_type, .shape = info.shape,
                                .data = {data, BytesOf(info)}, .owner = text}});
      offset += BytesOf(info);
    }
    return {};
  }
  return Usage(absl::StrCat(file, " has ", text->size(), " bytes, which are not those of the other side's tensors"));
}

}  // namespace

bool IsTensorFile(const std::string& text) {
  const std::string file = ParseFileName(text).file;
  return absl::EndsWith(file, ".npy") || absl::EndsWith(file, ".safetensors") || IsRaw(file);
}

Outcome OpenFileSide(const DiffRequest& request, const std::string& text, const DiffSide* other,
                     std::unique_ptr<DiffSide>& side) {
  const FileName name = ParseFileName(text);
  std::vector<FileSide::Tensor> tensors;
  Outcome outcome = IsRaw(name.file) ? ReadRaw(name.file, other, tensors) : ReadTensors(name, other, tensors);
  if (!outcome.ok()) return outcome;
  auto made = std::make_unique<FileSide>();
  outcome = made->Open(request, text, std::move(tensors), other);
  side = std::move(made);
  return outcome;
}

}  // namespace posenc::cli
