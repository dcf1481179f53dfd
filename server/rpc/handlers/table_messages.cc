#include "server/rpc/handlers/table_messages.h"

#include <utility>

#include "proto/spec_codec.h"

namespace posenc {

std::vector<int64_t> AnswerDims(const SlicePlan& plan, const TensorShape& tensor) {
  std::vector<int64_t> dims = plan.TensorDims(tensor);
  if (plan.row_dims.empty() && plan.row_count() == 0) dims.insert(dims.begin(), 0);
  return dims;
}

void EncodeTensorInfo(const SlicePlan& plan, const TensorShape& tensor, v1::TensorInfo* message) {
  message->set_name(tensor.name);
  message->set_element_type(EncodeElementType(tensor.element_type));
  const std::vector<int64_t> dims = AnswerDims(plan, tensor);
  message->mutable_shape()->Add(dims.begin(), dims.end());
}

std::vector<TensorPart> TensorPartsOf(const TableShape& shape, const SlicePlan& plan, RowData rows) {
  std::vector<TensorPart> parts;
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    parts.push_back(
        {&shape.tensors[t], AnswerDims(plan, shape.tensors[t]), std::move(rows.tensors[t])});
  }
  return parts;
}

}  // namespace posenc
