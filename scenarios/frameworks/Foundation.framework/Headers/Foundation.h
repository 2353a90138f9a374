// The part of Apple's Foundation that mpsprobe uses, for compilers that have no Apple SDK.
// NSObject itself is not here: the cross-compiler carries <objc/NSObject.h>. See ../../README.md.
#pragma once

#include <objc/NSObjCRuntime.h>
#include <objc/NSObject.h>
#include <objc/objc.h>
#include <os/availability.h>

#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
// In C++ a set of options is its integer type: enumerators could not be or-ed otherwise.
#if defined(__cplusplus)
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#else
#define NS_OPTIONS(type, name) NS_ENUM(type, name)
#endif

NS_ASSUME_NONNULL_BEGIN

typedef struct _NSZone NSZone;

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;

static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range;
  range.location = location;
  range.length = length;
  return range;
}

@protocol NSCopying
- (id)copyWithZone:(nullable NSZone*)zone;
@end

typedef struct {
  unsigned long state;
  id __unsafe_unretained _Nullable* _Nullable itemsPtr;
  unsigned long* _Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained _Nullable[_Nonnull])buffer
                                    count:(NSUInteger)len;
@end

API_AVAILABLE(macos(10.0))
@interface NSString : NSObject <NSCopying>
+ (nullable instancetype)stringWithUTF8String:(const char*)nullTerminatedCString;
@property(nullable, readonly) const char* UTF8String NS_RETURNS_INNER_POINTER;
@end

API_AVAILABLE(macos(10.0))
@interface NSValue : NSObject <NSCopying>
@end

API_AVAILABLE(macos(10.0))
@interface NSNumber : NSValue
+ (NSNumber*)numberWithInt:(int)value;  // @2
+ (NSNumber*)numberWithLongLong:(long long)value;
@end

API_AVAILABLE(macos(10.0))
@interface NSArray<__covariant ObjectType> : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (ObjectType)objectAtIndex:(NSUInteger)index;
+ (instancetype)arrayWithObjects:(const ObjectType _Nonnull[_Nonnull])objects count:(NSUInteger)cnt;
@end

API_AVAILABLE(macos(10.0))
@interface NSDictionary<__covariant KeyType, __covariant ObjectType>
    : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (nullable ObjectType)objectForKey:(KeyType)aKey;
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObjects:(const ObjectType _Nonnull[_Nullable])objects
                              forKeys:(const KeyType<NSCopying> _Nonnull[_Nullable])keys
                                count:(NSUInteger)cnt;
@end

API_AVAILABLE(macos(10.0))
@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary <KeyType, ObjectType>
- (void)setObject:(ObjectType)anObject forKey:(KeyType<NSCopying>)aKey;
@end

@class NSURL;

typedef NSString* NSErrorDomain;

API_AVAILABLE(macos(10.0))
@interface NSError : NSObject <NSCopying>
@property(readonly, copy) NSString* localizedDescription;
@end

typedef NSString* NSExceptionName;

API_AVAILABLE(macos(10.0))
__attribute__((objc_exception))
@interface NSException : NSObject<NSCopying>
@property(readonly, copy) NSExceptionName name;
@property(nullable, readonly, copy) NSString* reason;
@end

API_AVAILABLE(macos(10.0))
@interface NSAutoreleasePool : NSObject
- (void)drain;
@end

API_AVAILABLE(macos(10.0))
@interface NSBundle : NSObject
+ (nullable NSBundle*)bundleWithIdentifier:(NSString*)identifier;
- (nullable id)objectForInfoDictionaryKey:(NSString*)key;
@end

NS_ASSUME_NONNULL_END
