import { expect, it } from "vitest";
import { processorIdentity } from "./processor-identity.ts";

const x64 = `processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0x1000065
cpu MHz\t\t: 2596.144
apicid\t\t: 0
flags\t\t: fpu sse2 avx2
bogomips\t: 5192.28

processor\t: 1
model name\t: another
`;
const arm64 = `processor\t: 0
BogoMIPS\t: 2100.00
Features\t: fp asimd asimddp
CPU implementer\t: 0x41
CPU part\t: 0xd40
CPU revision\t: 1

`;
const identity = (text: string | undefined): string => processorIdentity(() => text);

it.each([
  [x64, "stepping\t: 1", "stepping\t: 2"],
  [x64, "0x1000065", "0x1000066"],
  [x64, "sse2 avx2", "sse2"],
  [x64, "model\t\t: 17", "model\t\t: 18"],
  [arm64, "asimd asimddp", "asimd"],
  [arm64, "0xd40", "0xd4f"],
  [arm64, "revision\t: 1", "revision\t: 2"],
])("differs between processors of another revision, microcode or instruction set (%#)", (text, from, to) => {
  expect(identity(text.replace(from, to))).not.toBe(identity(text));
});

it("is the same for all processors of a machine, and at every clock", () => {
  const other = x64
    .replace("2596.144", "3700.000")
    .replace("processor\t: 0", "processor\t: 7")
    .replace("apicid\t\t: 0", "apicid\t\t: 14");
  expect(identity(other)).toBe(identity(x64));
  expect(identity(arm64.replace("2100.00", "50.00"))).toBe(identity(arm64));
});

it("is never empty, also where /proc/cpuinfo is missing or says nothing known", () => {
  for (const text of [undefined, "", "something: else\n"]) expect(identity(text)).not.toBe("");
  expect(processorIdentity()).toBe(processorIdentity());
});
