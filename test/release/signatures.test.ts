/** Signatures of single programs on small files of the same layout; the programs themselves are in single-programs.long.test.ts. */
import { describe, expect, it } from "vitest";
import { checkSignature, signMachO } from "../../scripts/release/sign-mach-o.ts";
import { unsignPe } from "../../scripts/release/unsign-pe.ts";

/** A Mach-O file for arm64 with __TEXT (one section), __LINKEDIT and no signature. */
function machO(): Buffer {
  const [textSize, linkEditSize] = [0x4000, 1000];
  const file = Buffer.alloc(textSize + linkEditSize, 7);
  file.fill(0, 0, 0x400);
  [0xfeedfacf, 0x100000c, 0, 2, 2, 152 + 72, 0, 0].forEach((value, index) => file.writeUInt32LE(value, 4 * index));
  const segment = (offset: number, name: string, start: number, size: number, sections: number): void => {
    file.writeUInt32LE(0x19, offset);
    file.writeUInt32LE(72 + 80 * sections, offset + 4);
    file.write(name, offset + 8, "latin1");
    file.writeBigUInt64LE(BigInt(start), offset + 40);
    file.writeBigUInt64LE(BigInt(size), offset + 48);
    file.writeUInt32LE(sections, offset + 64);
  };
  segment(32, "__TEXT", 0, textSize, 1);
  file.writeUInt32LE(0x400, 32 + 72 + 48); // where the section begins
  segment(32 + 152, "__LINKEDIT", textSize, linkEditSize, 0);
  return file;
}

describe("ad-hoc signatures of Mach-O files", () => {
  it("hash every page, and notice a byte that changes", () => {
    const signed = signMachO(machO(), "dev.inferyard.test");
    expect(checkSignature(signed)).toBeUndefined();
    const changed = Buffer.from(signed);
    changed[0x2100]! ^= 1;
    expect(checkSignature(changed)).toBe("page 2 has another hash");
  });

  it("replace the signature that a file has", () => {
    const signed = signMachO(machO(), "dev.inferyard.test");
    expect(signMachO(signed, "dev.inferyard.test").equals(signed)).toBe(true);
  });

  it("need room for their command", () => {
    const file = machO();
    file.writeUInt32LE(32 + 152 + 72, 32 + 72 + 48);
    expect(() => signMachO(file, "dev.inferyard.test")).toThrow("no room for the command of a signature");
  });
});

describe("signatures of PE files", () => {
  it("are removed with their directory", () => {
    const file = Buffer.alloc(1024, 1);
    file.fill(0, 0, 512);
    file.writeUInt32LE(64, 0x3c);
    file.write("PE\0\0", 64, "latin1");
    file.writeUInt16LE(0x20b, 88);
    file.writeUInt32LE(1000, 88 + 112 + 32);
    file.writeUInt32LE(24, 88 + 112 + 36);
    const unsigned = unsignPe(file);
    expect(unsigned.length).toBe(1000);
    expect(unsigned.readBigUInt64LE(88 + 112 + 32)).toBe(0n);
    expect(unsignPe(unsigned).equals(unsigned)).toBe(true);
  });
});
