#include "CSimdjson.h"
