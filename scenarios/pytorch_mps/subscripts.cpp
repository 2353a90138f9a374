// A plugin of clang's: subscripts of Objective-C's arrays and dictionaries with gcc's runtime,
// which has no option for them outside Apple's. Loaded with -fplugin.
#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

namespace {

struct Subscripts : clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    compiler.getLangOpts().ObjCSubscriptingLegacyRuntime = 1;
    return std::make_unique<clang::ASTConsumer>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Subscripts> kSubscripts("subscripts",
                                                                 "a[i] with gcc's runtime");

}  // namespace
