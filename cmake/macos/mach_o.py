"""What a linked Mach-O image of arm64 says of itself: the part of the format that check_images.py asks for."""
import struct

MAGIC_64 = 0xFEEDFACF
CPU_ARM64 = 0x0100000C
LC_REQ_DYLD = 0x80000000
LC_SYMTAB = 0x2
LC_LOAD_DYLIB, LC_ID_DYLIB = 0xC, 0xD
LC_LOADING = (LC_LOAD_DYLIB, 0x18 | LC_REQ_DYLD, 0x1F | LC_REQ_DYLD, 0x20, 0x23 | LC_REQ_DYLD)
LC_REEXPORT = 0x1F | LC_REQ_DYLD
LC_BUILD_VERSION = 0x32
LC_RPATH = 0x1C | LC_REQ_DYLD
PLATFORMS = {1: "macos"}
# n_type: any of these bits is a debugger's entry; the next says that only the image itself sees it, the third that others may
N_STAB, N_PEXT, N_EXT, N_TYPE = 0xE0, 0x10, 0x01, 0x0E
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
        self._symbols = 0, 0, 0, 0
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from("<II", self.data, at)
            self._read(command, at, size)
            at += size

    def _read(self, command, at, size):
        if command in (*LC_LOADING, LC_ID_DYLIB, LC_RPATH):
            text = self.data[at + struct.unpack_from("<I", self.data, at + 8)[0] : at + size]
            text = text.split(b"\0")[0].decode()
            if command == LC_ID_DYLIB:
                self.install_name = text
            else:
                (self.run_path if command == LC_RPATH else self.libraries).append(text)
            if command == LC_REEXPORT:
                self.reexported.append(text)
        elif command == LC_SYMTAB:
            self._symbols = struct.unpack_from("<IIII", self.data, at + 8)
        elif command == LC_BUILD_VERSION:
            platform, minimum = struct.unpack_from("<II", self.data, at + 8)
            self.platform = PLATFORMS.get(platform, str(platform))
            self.minimum = f"{minimum >> 16}.{minimum >> 8 & 0xFF}"

    def _externals(self):
        """(name, whether it is defined here, n_desc) of each symbol that other images may see or have."""
        symbols, count, strings, _ = self._symbols
        for index in range(count):
            name, kind, _, description, value = struct.unpack_from("<IBBHQ", self.data, symbols + 16 * index)
            if kind & (N_STAB | N_PEXT) or not kind & N_EXT:
                continue
            end = self.data.index(b"\0", strings + name)
            yield self.data[strings + name : end].decode(), bool(kind & N_TYPE or value), description

    def imports(self):
        """(symbol, install name of the library it is taken from, or None where the link named none, whether the image
        can do without it)"""
        for name, defined, description in self._externals():
            ordinal = description >> 8
            library = self.libraries[ordinal - 1] if 1 <= ordinal <= len(self.libraries) else None
            if not defined:
                yield name, library, bool(description & N_WEAK_REF)

    def exports(self):
        """The names that other images find here: the linker makes the loader's trie of the same symbols."""
        return {name for name, defined, _ in self._externals() if defined}
