#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "harness/platform/system.h"
#include "harness/process/command.h"
#include "reproducers/bundle/redaction/personal.h"

namespace mpsprobe {
namespace {

constexpr double kCommandSeconds = 5;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

void add_account(std::vector<PersonalString>& found) {
  for (const char* variable : {"USER", "LOGNAME", "SUDO_USER"}) {
    if (const char* value = std::getenv(variable))
      found.push_back({PersonalKind::user_name, value});
  }
  if (const char* home = std::getenv("HOME")) found.push_back({PersonalKind::home_path, home});
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* account = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &account) != 0 ||
      account == nullptr) {
    return;
  }
  found.push_back({PersonalKind::user_name, account->pw_name});
  found.push_back({PersonalKind::home_path, account->pw_dir});
  // The first field is the name; a '&' in it stands for the account's.
  const std::string gecos = account->pw_gecos == nullptr ? "" : account->pw_gecos;
  found.push_back({PersonalKind::full_name, gecos.substr(0, gecos.find(','))});
}

void add_host(std::vector<PersonalString>& found) {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) {
    found.push_back({PersonalKind::host_name, name.data()});
  }
  if (kSystem != System::macos) return;
  for (const char* which : {"ComputerName", "LocalHostName", "HostName"}) {
    const CommandResult result =
        run_command({"/usr/sbin/scutil", "--get", which}, kCommandSeconds, {"PATH=/usr/bin:/bin"});
    if (result.termination == Termination(Exited{0})) {
      found.push_back({PersonalKind::host_name, first_line(result.out)});
    }
  }
}

void add_serial(std::vector<PersonalString>& found) {
  if (kSystem == System::macos) {
    const CommandResult result =
        run_command({"/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice"}, kCommandSeconds,
                    {"PATH=/usr/bin:/bin"});
    for (PersonalString& text : personal_strings_of_ioreg(result.out)) {
      found.push_back(std::move(text));
    }
    return;
  }
  for (const char* file : {"/etc/machine-id", "/sys/class/dmi/id/product_serial"}) {
    std::ifstream stream(file);
    std::string line;
    if (std::getline(stream, line)) found.push_back({PersonalKind::serial_number, line});
  }
}

}  // namespace

std::vector<PersonalString> personal_strings_of_ioreg(std::string_view printed) {
  std::vector<PersonalString> found;
  for (std::string_view key : {"\"IOPlatformSerialNumber\" = \"", "\"IOPlatformUUID\" = \""}) {
    const size_t at = printed.find(key);
    if (at == std::string_view::npos) continue;
    const size_t begin = at + key.size();
    const size_t end = printed.find('"', begin);
    if (end == std::string_view::npos) continue;
    const bool serial = key.find("Serial") != std::string_view::npos;
    found.push_back({serial ? PersonalKind::serial_number : PersonalKind::identifier,
                     std::string(printed.substr(begin, end - begin))});
  }
  return found;
}

std::vector<PersonalString> personal_strings_of_this_machine() {
  std::vector<PersonalString> found;
  add_account(found);
  add_host(found);
  add_serial(found);
  return found;
}

}  // namespace mpsprobe
