"""OpenPGP signatures (RFC 4880, version 4, RSA and SHA-256) by the openssl program."""

import base64
import hashlib
import os
import struct
import subprocess
import time

SIGNATURE, PUBLIC_KEY, USER_ID = 2, 6, 13
CREATED, ISSUER, KEY_FLAGS = 2, 16, 27
DOCUMENT, CERTIFICATION = 0x00, 0x13
RSA, SHA256 = 1, 8
USER = b"Benchmark <bench@example.test>"


def multiprecision(number):
    return struct.pack(">H", number.bit_length()) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def packet(tag, body):
    return bytes([0xC0 | tag, 0xFF]) + struct.pack(">I", len(body)) + body


def subpacket(kind, body):
    return bytes([len(body) + 1, kind]) + body


def checksum(content):
    crc = 0xB704CE
    for byte in content:
        crc ^= byte << 16
        for _ in range(8):
            crc = crc << 1 ^ (0x1864CFB if crc & 0x800000 else 0)
    return struct.pack(">I", crc & 0xFFFFFF)[1:]


class Key:
    """A new key; its files are in `directory`."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "openpgp.pem")
        self.openssl("genrsa", "-out", self.path, "2048")
        modulus = int(self.openssl("rsa", "-in", self.path, "-noout", "-modulus").split(b"=")[1], 16)
        self.created = struct.pack(">I", int(time.time()) - 3600)
        body = bytes([4]) + self.created + bytes([RSA]) + multiprecision(modulus) + multiprecision(65537)
        hashed = b"\x99" + struct.pack(">H", len(body)) + body
        self.id = hashlib.sha1(hashed).digest()[-8:]
        certified = hashed + b"\xB4" + struct.pack(">I", len(USER)) + USER
        certificate = self.signature(certified, CERTIFICATION, subpacket(KEY_FLAGS, bytes([3])))
        content = packet(PUBLIC_KEY, body) + packet(USER_ID, USER) + certificate
        self.armored = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n%s=%s\n-----END PGP PUBLIC KEY BLOCK-----\n" % (
            base64.encodebytes(content).decode(), base64.b64encode(checksum(content)).decode())

    def sign(self, document):
        """A detached signature, not armored."""
        return self.signature(document, DOCUMENT, b"")

    def signature(self, document, kind, more):
        subpackets = subpacket(CREATED, self.created) + more
        hashed = bytes([4, kind, RSA, SHA256]) + struct.pack(">H", len(subpackets)) + subpackets
        signed = document + hashed + b"\x04\xFF" + struct.pack(">I", len(hashed))
        number = int.from_bytes(self.openssl("dgst", "-sha256", "-sign", self.path, stdin=signed), "big")
        unhashed = subpacket(ISSUER, self.id)
        return packet(SIGNATURE, hashed + struct.pack(">H", len(unhashed)) + unhashed +
                      hashlib.sha256(signed).digest()[:2] + multiprecision(number))

    def openssl(self, *arguments, stdin=None):
        return subprocess.run(["openssl", *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True).stdout
