// How good a decomposition is.
#pragma once

namespace meshpart {}  // namespace meshpart
