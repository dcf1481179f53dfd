// Models beside the text model of one file: talkers, vocoders, encoders and decoders, depth decoders.
//
// A part of a family that is known has its tables, called by the part ("talker", "code2wav"); of any other a
// note names it. Pure functions.

#ifndef POSENC_SERVER_MODELS_PARTS_OTHER_PARTS_H_
#define POSENC_SERVER_MODELS_PARTS_OTHER_PARTS_H_

#include "server/models/answer/table_draft.h"
#include "server/models/config/config_reader.h"

namespace posenc {

// Adds the tables of the parts of `root` to `reading`, but for the text model `text`, and for vision_config and
// audio_config, which have a reader of their own. A part that cannot be read makes no file wrong: a note says
// what hinders it.
void ReadOtherParts(const ConfigObject& root, const ConfigObject& text, const ModelQuery& query, Reading& reading);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_PARTS_OTHER_PARTS_H_
