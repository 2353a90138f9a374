#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// Where a run is made, for CampaignHeader::origin: a digest of this machine's identity, this
/// account and the folder's whole path, from which none of the three can be read. Another machine,
/// account or folder gives another one. Safe to call from several threads.
std::string origin_of(const std::filesystem::path& folder);

/// Whether a run was made here: by this account of this machine, in the folder that it lies in.
/// False of one that does not say, as those of old versions. What else its journal says of programs
/// and variables is believed only then.
bool made_here(const std::string& origin, const std::filesystem::path& folder);

/// What is started, and with which variables, where a run that was made elsewhere is believed.
struct WouldStart {
  std::vector<std::string> programs;     ///< "worker stock: /path", for people
  std::vector<std::string> environment;  ///< K=V
};

/// Throws InputError, which names what would be started, where `origin` is not of `folder`.
/// `place` is what the user wrote ("--resume DIR"), `remedy` what to write instead.
void refuse_foreign(const std::string& origin, const std::filesystem::path& folder,
                    const WouldStart& what, const std::string& place, const std::string& remedy);
/// The same of the run that lies in `folder`.
void refuse_foreign(const CampaignHeader& header, const std::filesystem::path& folder,
                    const std::string& place, const std::string& remedy);

/// Says on standard error which variables of a run that was made elsewhere are left out.
void say_left_out_variables(const std::vector<std::string>& environment);

}  // namespace mpsprobe
