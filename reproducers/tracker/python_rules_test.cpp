#include "reproducers/tracker/python_rules.h"

#include <gmock/gmock.h>

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kGood = R"(# sim/linear/nograph/threads=3
import torch, threading
import torch.nn.functional as F

def work(x, w, b):
    for i in range(10):
        y = F.linear(x, w, b)
    torch.mps.synchronize()
    assert torch.allclose(y.cpu(), F.linear(x.cpu(), w.cpu(), b.cpu())), "wrong; os.system"

threads = [threading.Thread(target=work, args=(torch.ones(2), 1, 2)) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(f"{torch.__version__}: passed, nothing is open")
)";

std::vector<std::string> with(std::string_view line) {
  return broken_python_rules(std::string(kGood) + std::string(line) + "\n");
}

TEST(PythonRules, AHonestReproducerKeepsThem) {
  EXPECT_THAT(broken_python_rules(kGood), IsEmpty());
  EXPECT_THAT(with("model = torch.compile(torch.nn.Linear(2, 2))"), IsEmpty());
  EXPECT_THAT(with("state = model.load_state_dict({})"), IsEmpty());
}

TEST(PythonRules, OnlyTorchAndThreadingAreImported) {
  EXPECT_THAT(with("import os"), Contains(HasSubstr("imports \"os\"")));
  EXPECT_THAT(with("import torch, numpy"), Contains(HasSubstr("imports \"numpy\"")));
  EXPECT_THAT(with("from subprocess import run"), Contains(HasSubstr("imports \"subprocess\"")));
  EXPECT_THAT(with("if True: import torch"), Contains(HasSubstr("inside another statement")));
  EXPECT_THAT(with("import torch.multiprocessing as mp"), Contains(HasSubstr("multiprocessing")));
  EXPECT_THAT(with("from torch import hub"), Contains(HasSubstr("uses \"hub\"")));
  EXPECT_THAT(broken_python_rules("import threading\n"), Contains("does not import torch"));
}

TEST(PythonRules, NothingOutsideTheProcessIsTouched) {
  for (const char* line :
       {"open('x')", "x = __import__('os')", "eval('1')", "exec('1')", "compile('1', '', 'eval')",
        "torch.load('x.pt')", "torch.save(1, 'x')", "torch.os.environ['A'] = '1'",
        "torch.hub.load('a', 'b')", "threading.sys.exit(1)", "getattr(torch, 'o' + 's')",
        "print(f'{open(1)}')", "print(f\"{threading.os.getpid()}\")", "torch.sys.path"}) {
    EXPECT_THAT(with(line), Contains(HasSubstr("line 15: uses"))) << line;
  }
}

TEST(PythonRules, TextIsNotCodeAndCodeIsNotHiddenInText) {
  EXPECT_THAT(with("'''\nimport os\n''' ; x = 1"), Contains(HasSubstr("two statements")));
  EXPECT_THAT(with("print('it\\'s os')"), IsEmpty());
  EXPECT_THAT(with("print('#'); open(1)"), Contains(HasSubstr("uses \"open\"")));
  EXPECT_THAT(with("print(f'{{os}}')"), Contains(HasSubstr("uses \"os\"")));  // rather too strict
  EXPECT_THAT(with("rf = 1  # os"), IsEmpty());
  EXPECT_THAT(with("x = \"unclosed"), IsEmpty());
}

TEST(PythonRules, LinesAreCountedAndHaveOneStatement) {
  std::string twenty = "import torch\n";
  for (int i = 0; i < 20; ++i) twenty += "\n# why\nx = 1\n";
  EXPECT_THAT(broken_python_rules(twenty),
              testing::ElementsAre("has 20 lines of comment; 6 are the most"));
  std::string bare = "import torch\n";
  for (int i = 0; i < 20; ++i) bare += "x = 1\n\n";
  EXPECT_THAT(broken_python_rules(bare), IsEmpty());
  EXPECT_THAT(broken_python_rules(bare + "y = 2\n"),
              Contains("has 21 lines besides its imports; 20 are the most"));
  EXPECT_THAT(broken_python_rules(bare + "'''text'''\n"), Contains(HasSubstr("has 21 lines")));
  EXPECT_THAT(with("a = 1; b = 2"), Contains(HasSubstr("two statements")));
  EXPECT_THAT(with("a = 1 + \\\n 2"), Contains(HasSubstr("continued")));
  EXPECT_THAT(with("x = '" + std::string(140, 'x') + "'"), Contains(HasSubstr("over 140 columns")));
  EXPECT_THAT(with("# " + std::string(490, 'x')), IsEmpty());
  EXPECT_THAT(with("# " + std::string(500, 'x')), Contains(HasSubstr("over 500 columns")));
  EXPECT_THAT(with("# caf\xC3\xA9"), IsEmpty());
  EXPECT_THAT(with("# title\rimport os"), Contains(HasSubstr("control character")));
  EXPECT_THAT(with("x = 1\rimport os"), Contains(HasSubstr("no ASCII")));
  EXPECT_THAT(with("name = '\xC3\xA9'"), Contains(HasSubstr("no ASCII")));
}

TEST(PythonRules, AnyBytesAreAccepted) {
  broken_python_rules("");
  broken_python_rules("f'");
  broken_python_rules("'''\\");
  broken_python_rules(std::string_view("\0\xff{}f\"{", 8));
  EXPECT_THAT(broken_python_rules(std::string(100000, '{')), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace mpsprobe
