#pragma once

// What Apple's Foundation brings and GNUstep's lacks.
#import <Foundation/Foundation.h>
#include <dispatch/dispatch.h>

typedef struct {
  NSInteger majorVersion, minorVersion, patchVersion;
} NSOperatingSystemVersion;

@interface NSProcessInfo (MoreFoundation)
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end
