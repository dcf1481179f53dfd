// The text model inside of a larger model's file, and its family. Pure functions.

#ifndef POSENC_SERVER_MODELS_READERS_TEXT_MODEL_H_
#define POSENC_SERVER_MODELS_READERS_TEXT_MODEL_H_

#include <string>

#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"

namespace posenc {

// The text model's object, the model_type that decides, and its row; null for one that has none.
struct TextModel {
  ConfigObject object;
  Found<std::string> model_type;
  const ModelFamily* family = nullptr;
};

// Returns the model_type of an object; empty where it has none.
Found<std::string> ReadModelType(const ConfigObject& object, Violations& bad);

// Goes from `root` to the innermost text model. Its own model_type decides when it is a family of the list, else
// the class that its weights are for; one that is not (a part's private name) leaves the decision to the model
// around it.
TextModel FindTextModel(const ConfigObject& root, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_READERS_TEXT_MODEL_H_
