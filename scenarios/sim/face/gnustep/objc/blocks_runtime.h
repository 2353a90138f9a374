// GNUstep's headers ask for this file, which comes with another Objective-C runtime than Debian's.
#include <Block.h>
