"""Kinds of tools/torture: what was received of others is hostile, or is no input at all."""
from __future__ import annotations

import hashlib
import json
import pathlib
import resource

# What loaders, interpreters, shells, allocators, libraries and tools read: no received file may set one.
VARIABLES = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH", "GCONV_PATH",
             "LOCPATH", "GLIBC_TUNABLES", "MALLOC_CHECK_", "MallocStackLogging", "PYTHONPATH", "PYTHONSTARTUP",
             "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PATH", "HOME", "TMPDIR", "BASH_ENV", "ENV",
             "IFS", "PS4", "OPENSSL_CONF", "OMP_TOOL_LIBRARIES", "VK_ICD_FILENAMES", "CUDA_INJECTION64_PATH",
             "METAL_LOAD_INTERPOSER", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CC", "EDITOR", "GIT_SSH_COMMAND",
             "SSH_ASKPASS", "ASAN_OPTIONS", "http_proxy", "HTTPS_PROXY", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
             "SSH_AUTH_SOCK"]
CELLS = ["cpu/selftest.pass/default/threads=2", "cpu/selftest.null_dereference/default/threads=2",
         "cpu/selftest.exception/default/threads=1", "cpu/selftest.exit_eleven/default/threads=1"]


def sealed(record: dict, run: str) -> bytes:
    """A line of a journal as mpsprobe seals it (harness/journal/journal_line.cpp)."""
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)[:-1].encode(errors="surrogatepass")
    total = 0xcbf29ce484222325
    for byte in run.encode() + line:
        total = (total ^ byte) * 0x100000001b3 % 2 ** 64
    return line + f',"sum":"{total:016x}"}}'.encode()


class Received:
    """The part of Torture that breaks what a command reads."""

    def bundles(self) -> str:
        """A bundle or a run of somebody else, changed at random: refused, and nothing that it names is started."""
        run, place, mark = self.new(), self.new(), self.new()
        evil = self.folder / "evil"
        evil.write_text(f"#!/bin/sh\n: >> '{mark}'\nexec '{self.worker.split('=', 1)[1]}' \"$@\"\n")
        evil.chmod(0o755)
        self.call([self.program, "run", "--cell", CELLS[1], "--trials", "3", "--worker", f"stock={evil}", "--out", run])
        self.call([self.program, "feedback", run, "--out", place])
        mark.unlink()
        way = self.random.random()
        if way < 0.25:
            name = self.random.choice(VARIABLES)
            matrix = self.folder / "received.json"
            matrix.write_text(json.dumps({"mpsprobe_matrix": 1, "name": "received", "blocks": [
                {"title": "cells", "axes": {"backend": ["cpu"], "op": [CELLS[1].split("/")[1]],
                                            f"env.{name}": ["evil.so"]}}]}))
            words = ["run", "--matrix", matrix, "--worker", f"stock={evil}", "--dry-run"]
            what = f"a matrix with {name}"
        elif way < 0.5:
            got = run.rename(self.new())
            words = self.random.choice([["run", "--resume", got], ["run", "--failed", got], ["repro", got],
                                        ["run", "--failed", got / "report.json"]])
            what = f"{words[:2]} of a run that was moved"
        else:
            bundle = next(path for path in place.iterdir() if path.is_dir())
            what = self.spoil(bundle)
            words = ["verify", bundle, "--worker", f"stock={evil}", "--trials", "1", "--out", self.new()]
        done = self.call([self.program, *words])
        if mark.exists():
            return f"{what}: something ran"
        return "" if done.returncode in (2, 3) else f"{what}: ended with {done.returncode}: {done.stderr[-200:]}"

    def spoil(self, bundle: pathlib.Path) -> str:
        """Changes one thing in a bundle that nobody may change. Returns what."""
        files = sorted(path for path in bundle.rglob("*") if path.is_file() and path.name != "MANIFEST.sha256")
        file = self.random.choice(files)
        how = self.random.choice(["flip", "remove", "link", "cell", "manifest", "folder"])
        if how == "flip" and file.stat().st_size > 0:
            data = bytearray(file.read_bytes())
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            file.write_bytes(bytes(data))
        elif how == "link":
            file.rename(self.folder / "outside")
            file.symlink_to(self.folder / "outside")
        elif how == "cell":
            name = self.random.choice([*VARIABLES, "A"])
            self.pack(bundle, (bundle / "bundle.json").read_text().replace(CELLS[1], f"{CELLS[1]}/env.{name}=evil.so"))
        elif how == "manifest":
            (bundle / "MANIFEST.sha256").unlink()
        elif how == "folder":
            (bundle / "verified").symlink_to("/tmp")
        else:
            file.unlink()
        return f"{how} {file.name}"

    @staticmethod
    def pack(bundle: pathlib.Path, text: str):
        """Puts another record into a bundle, under its manifest."""
        (bundle / "bundle.json").write_text(text)
        manifest = bundle / "MANIFEST.sha256"
        packed = [line for line in manifest.read_text().splitlines() if not line.endswith("  bundle.json")]
        packed.append(hashlib.sha256(text.encode()).hexdigest() + "  bundle.json")
        manifest.write_text("\n".join(packed) + "\n")

    def owncode(self) -> str | None:
        """A run of somebody's own Python code: a bundle holds no line of it, and received, nothing of it runs."""
        python = self.program.parent / "mpsprobe-python-worker"
        if not python.exists():
            return None
        said, name, secret = ("planted" + "".join(self.random.choices("abcdefghkmnz", k=8)) for _ in range(3))
        mark, place, out, bundles = (self.new() for _ in range(4))
        place.mkdir()
        code = place / f"{name}.py"
        code.write_text(f"open({str(mark)!r}, 'a').write('x')\n\n\ndef {name}_test():\n"
                        f"    local = {secret!r}\n    raise ValueError('{said} ' + local)  # {name}\n")
        done = self.call([self.program, "run", "--python", f"{code}::{name}_test", "--trials", "2", "--threads", "1",
                   "--worker", f"python={python}", "--out", out])
        if done.returncode != 0 or not mark.exists():
            return f"the code did not run: {done.stderr[-200:]}"
        if self.random.random() < 0.3:
            self.call([self.program, "repro", out, "--budget", "0.3"])
        more = ["--with-output"] if self.random.random() < 0.5 else []
        self.call([self.program, "feedback", out, "--out", bundles, *more])
        for file in bundles.rglob("*"):
            text = file.name + (file.read_text(errors="replace") if file.is_file() and file.suffix != ".zip" else "")
            for word in (said, name, secret):
                if word in text.lower():
                    return f"{file.name} of the bundle holds {word}"
        if not any(bundles.iterdir()):
            return "no bundle was made"
        mark.unlink()
        got = out.rename(self.new())
        # Modules of the worker's names lie where it is called.
        (got / "mpsprobe").mkdir()
        for module in ("mpsprobe/__init__.py", "mpsprobe/worker.py", "json.py", "dataclasses.py"):
            (got / module).write_text(f"open({str(mark)!r}, 'a').write('x')\n")
        words = self.random.choice([["run", "--resume", "."], ["run", "--failed", "."], ["repro", "."],
                                    ["run", "--failed", ".", "--worker", f"python={python}", "--dry-run"],
                                    ["verify", next(path for path in bundles.iterdir() if path.is_dir()), "--worker",
                                     f"python={python}", "--trials", "1"]])
        self.call([self.program, *words], cwd=got)
        return f"{words}: something ran" if mark.exists() else ""

    def names(self) -> str:
        """A cell with a hostile name, from everywhere that cells come from: refused, in words that harm nothing."""
        mark = self.new()
        op = self.random.choice([
            "../../../../tmp/evil", "\x1b]0;title\x07\x1b[2J", "a\nb", "\r\n::error::x", f"$(touch {mark})", f"`touch {mark}`",
            f"'; touch {mark}; '", "%s%n%d{}{0}", "<script>alert(1)</script>", "\u202eevil\u202c", "a" * 100_000, "", "\ud800",
            "pass\x00", "a=b/c=d/" * 5000, "--out", "selftest.pass/threads=99999999999999999999", "\ufeffpass", "..", "|| "])
        cell = f"cpu/{op}/default/threads=2"
        place, run = self.new(), self.new()
        place.mkdir()
        where = self.random.choice(["--cell", "--op", "repro", "bisect", "matrix", "axis", "known failures", "journal", "bundle"])
        matrix = {"mpsprobe_matrix": 1, "name": "m", "description": "d"}
        out = ["--worker", self.worker, "--out", place / "out"]
        given = cell.encode("utf-8", "replace").decode().replace("\0", "\1")[:100_000]  # what an argument can be
        if where == "--cell":
            words = ["run", "--cell", given, *out]
        elif where == "--op":
            words = ["run", f"--op={given.split('/', 1)[1]}", "--backend", "cpu", *out]
        elif where == "repro":
            words = ["repro", given, *out]
        elif where == "bisect":
            words = ["bisect", given, "--builds", "a=/bin/true,b=/bin/true", "--out", place / "out"]
        elif where in ("matrix", "axis"):
            matrix |= {"include": [cell]} if where == "matrix" else {"axes": {"backend": ["cpu"], "op": [op], "threads": [2]}}
            (place / "m.json").write_text(json.dumps(matrix))
            words = ["run", "--matrix", place / "m.json", *out]
        elif where == "known failures":
            known = {"where": {"cells": [cell]}, "signature": "x", "failures": 1, "trials": 2}
            (place / "e.json").write_text(json.dumps({"mpsprobe_expectations": 1, "known": [known]}))
            words = ["run", "--cell", CELLS[0], "--trials", "1", *out, "--expectations", place / "e.json"]
        else:
            self.call([self.program, "run", "--cell", CELLS[1], "--trials", "1", "--worker", self.worker, "--out", run])
            if where == "journal":
                first, rest = (run / "journal.ndjson").read_bytes().split(b"\n", 1)
                record = json.loads(first)
                del record["sum"]
                record["campaign"]["cells"][0]["cell"] = cell
                (run / "journal.ndjson").write_bytes(sealed(record, record["run"]) + b"\n" + rest)
                words = self.random.choice([["report", run], ["show", run], ["run", "--failed", run, *out], ["merge", run],
                                            ["diff", run, run], ["feedback", run, "--out", place], ["repro", run, *out],
                                            ["run", "--resume", run], ["history", "add", run, "--db", place / "h"]])
            else:
                self.call([self.program, "feedback", run, "--out", place])
                bundle = next(path for path in place.iterdir() if path.is_dir())
                record = json.loads((bundle / "bundle.json").read_text())
                record["cells"][0]["cell"] = cell
                self.pack(bundle, json.dumps(record))
                words = ["verify", bundle, *out]
        done = self.call([self.program, *words], cwd=place)
        what = f"{op[:60]!r} from {where}: {words[0]}"
        if mark.exists():
            return f"{what}: something ran"
        if done.returncode not in ((0, 2, 3) if where in ("known failures", "bundle") else (2, 3)):
            return f"{what} ended with {done.returncode}: {done.stderr[-200:]!r}"
        acts = sorted(set(done.stdout + done.stderr) & set("\x07\x1b\r\u202e\u202c\ufeff"))
        return f"{what} printed {acts}" if acts else ""

    def endless(self) -> str:
        """What has no end, or a line of 300 MiB, in place of a file: refused by name, in little memory."""
        place, run = self.new(), self.new()
        place.mkdir()
        self.call([self.program, "run", "--cell", CELLS[1], "--trials", "1", "--worker", self.worker, "--out", run])
        file = place / "endless"
        what = self.random.choice(["/dev/zero", "/dev/full", "/dev/urandom", "a line of 300 MiB", "300 MiB of ["])
        if what.startswith("/dev"):
            file.symlink_to(what)
        else:
            with file.open("wb") as stream:
                for _ in range(300):
                    stream.write((b"[" if "[" in what else b"x") * 2 ** 20)
        out = ["--worker", self.worker, "--out", place / "out"]
        name = self.random.choice(["journal.ndjson", "report.json", "request.json", "bundle.json", "matrix", "known", "text"])
        if name in ("matrix", "known", "text"):
            words = {"matrix": ["run", "--matrix", file, *out], "text": ["read", file],
                     "known": ["run", "--cell", CELLS[0], *out, "--expectations", file]}[name]
        elif name == "bundle.json":
            self.call([self.program, "feedback", run, "--out", place])
            bundle = next(path for path in place.iterdir() if path.is_dir())
            (bundle / name).unlink()
            file.rename(bundle / name)
            words = ["verify", bundle, *out]
        else:
            if name == "report.json":  # which is read where there is no journal
                (run / "journal.ndjson").unlink()
            (run / name).unlink(missing_ok=True)
            file.rename(run / name)
            going_on = [["repro", "--resume", run], ["bisect", "--resume", run]]
            words = self.random.choice(going_on if name == "request.json" else [
                *going_on, ["report", run], ["show", run], ["diff", run, run], ["run", "--resume", run], ["repro", run],
                ["run", "--failed", run], ["merge", run, "--out", place / "out"], ["feedback", run]])
        most = 1 << 30
        done = self.call([self.program, *words], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        # What reads logs takes their beginning and end.
        if done.returncode not in ((0, 2, 3, 4) if name == "text" else (2, 3)):
            return f"{what} as {name}: {words[0]} ended with {done.returncode}: {done.stderr[-200:]!r}"
        return f"{what} as {name}: {words[0]}: {done.stderr[-200:]!r}" if "memory that" in done.stderr else ""

    def mutated(self) -> str:
        """A journal with lines swapped, doubled, cut, or with other bytes: each command ends in order."""
        out = self.new()
        self.call(self.command(out))
        journal = out / "journal.ndjson"
        lines = journal.read_bytes().splitlines(keepends=True)
        for _ in range(self.random.randint(1, 8)):
            at, to = self.random.randrange(len(lines)), self.random.randrange(len(lines))
            line = lines[at]
            cut = self.random.randrange(len(line) + 1)
            how = self.random.randrange(6)
            if how == 0:
                lines[at], lines[to] = lines[to], line
            elif how == 1:
                lines.insert(to, line)
            elif how == 2:
                lines[at] = line[:cut]
            elif how == 3:
                lines[at] = line[:cut] + self.random.randbytes(self.random.randint(1, 40)) + line[cut:]
            elif how == 4:
                lines[at] = line[:cut] + self.random.choice([b"1e999", b"-1", b"null", b"[" * 3000, b'"', b"{}"]) + line[cut + 1:]
            else:
                try:  # a value of another kind, under a seal that holds
                    record = json.loads(line)
                    run = json.loads(lines[0])["run"]
                    del record["sum"]
                    self.change(record)
                    lines[at] = sealed(record, run) + b"\n"
                except (ValueError, KeyError, TypeError):
                    lines[at] = b""
        journal.write_bytes(b"".join(lines))
        for words in (["report", out], ["show", out], ["read", journal], ["diff", out, out], ["feedback", out, "--out", self.new()],
                      ["history", "add", out, "--db", self.new()], ["merge", out, "--out", self.new()],
                      ["run", "--resume", out]):
            done = self.call([self.program, *words])
            if done.returncode not in (0, 1, 2, 3, 4, 6) or "std::" in done.stderr or "json.exc" in done.stderr:
                return f"{words[:2]} ended with {done.returncode}: {done.stderr[-300:]!r}"
        return ""

    def change(self, value):
        """Gives one value below `value` another kind."""
        while True:
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not keys:
                return
            key = self.random.choice(keys)
            if not isinstance(value[key], (dict, list)) or not value[key] or self.random.random() < 0.2:
                value[key] = self.random.choice([None, -1, 2 ** 64 - 1, 1e300, "", "x" * 5000, [], {}, [[]], True, "\u202e"])
                return
            value = value[key]
