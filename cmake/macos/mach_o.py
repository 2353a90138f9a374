"""What a linked Mach-O image of arm64 says of itself: the part of the format that check_images.py asks for."""
import struct

MAGIC_64 = 0xFEEDFACF
CPU_ARM64 = 0x0100000C
LC_REQ_DYLD = 0x80000000
LC_SYMTAB = 0x2
LC_LOAD_DYLIB, LC_ID_DYLIB = 0xC, 0xD
LC_LOADING = (LC_LOAD_DYLIB, 0x18 | LC_REQ_DYLD, 0x1F | LC_REQ_DYLD, 0x20, 0x23 | LC_REQ_DYLD)
LC_REEXPORT = 0x1F | LC_REQ_DYLD
LC_DYLD_INFO = (0x22, 0x22 | LC_REQ_DYLD)
LC_EXPORTS_TRIE = 0x33 | LC_REQ_DYLD
LC_BUILD_VERSION = 0x32
LC_RPATH = 0x1C | LC_REQ_DYLD
PLATFORMS = {1: "macos"}
# n_type: any of these bits is a debugger's entry; this one says that other images may see it
N_STAB, N_EXT, N_TYPE = 0xE0, 0x01, 0x0E
N_WEAK_REF = 0x40


class Image:
    """Load commands of the image at `path`. Raises ValueError where it is no 64-bit Mach-O."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        magic, self.cpu = struct.unpack_from("<II", self.data)
        if magic != MAGIC_64:
            raise ValueError(f"{path}: no 64-bit Mach-O image")
        count = struct.unpack_from("<I", self.data, 16)[0]
        self.install_name = ""
        self.libraries = []  # in the order that symbols refer to
        self.reexported = []
        self.platform, self.minimum = "", ""
        self.run_path = []
        self._symbols = self._trie = None
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from("<II", self.data, at)
            self._read(command, at, size)
            at += size

    def _read(self, command, at, size):
        if command in LC_LOADING or command == LC_ID_DYLIB:
            name = self.data[at + struct.unpack_from("<I", self.data, at + 8)[0] : at + size]
            name = name.split(b"\0")[0].decode()
            if command == LC_ID_DYLIB:
                self.install_name = name
                return
            self.libraries.append(name)
            if command == LC_REEXPORT:
                self.reexported.append(name)
        elif command == LC_RPATH:
            folder = self.data[at + struct.unpack_from("<I", self.data, at + 8)[0] : at + size]
            self.run_path.append(folder.split(b"\0")[0].decode())
        elif command == LC_SYMTAB:
            self._symbols = struct.unpack_from("<IIII", self.data, at + 8)
        elif command in LC_DYLD_INFO:
            self._trie = struct.unpack_from("<II", self.data, at + 40)
        elif command == LC_EXPORTS_TRIE:
            self._trie = struct.unpack_from("<II", self.data, at + 8)
        elif command == LC_BUILD_VERSION:
            platform, minimum = struct.unpack_from("<II", self.data, at + 8)
            self.platform = PLATFORMS.get(platform, str(platform))
            self.minimum = f"{minimum >> 16}.{minimum >> 8 & 0xFF}"

    def imports(self):
        """(symbol, install name of the library it is taken from, or None where the link named none, whether the image
        can do without it)"""
        if self._symbols is None:
            return
        symbols, count, strings, _ = self._symbols
        for index in range(count):
            name, kind, _, description, value = struct.unpack_from("<IBBHQ", self.data, symbols + 16 * index)
            if kind & N_STAB or kind & N_TYPE or not kind & N_EXT or value:
                continue
            end = self.data.index(b"\0", strings + name)
            ordinal = description >> 8
            library = self.libraries[ordinal - 1] if 1 <= ordinal <= len(self.libraries) else None
            yield self.data[strings + name : end].decode(), library, bool(description & N_WEAK_REF)

    def exports(self):
        """Names in the trie that the loader looks symbols up in."""
        if not self._trie or not self._trie[1]:
            return set()
        start, size = self._trie
        trie = self.data[start : start + size]
        names = set()
        pending = [(0, b"")]
        while pending:
            at, prefix = pending.pop()
            terminal, at = _uleb(trie, at)
            if terminal:
                names.add(prefix.decode())
            at += terminal
            children = trie[at]
            at += 1
            for _ in range(children):
                end = trie.index(b"\0", at)
                child, after = _uleb(trie, end + 1)
                pending.append((child, prefix + trie[at:end]))
                at = after
        return names


def _uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
