/** Numbers of instruction sets in ELF files (e_machine), by the names that Inferyard prints. */
const machines = new Map<number, string>([
  [3, "x86"],
  [8, "mips"],
  [20, "ppc"],
  [21, "ppc64"],
  [22, "s390x"],
  [40, "arm"],
  [50, "ia64"],
  [62, "x86-64"],
  [183, "arm64"],
  [190, "cuda"],
  [224, "amdgpu"],
  [243, "riscv"],
  [247, "bpf"],
  [258, "loong64"],
]);

/** The name of an instruction set; "machine 4711" for a number that is not known. */
export function elfArchitecture(machine: number, bits: 32 | 64): string {
  const name = machines.get(machine) ?? `machine ${machine}`;
  return name === "riscv" || name === "mips" ? `${name}${bits}` : name;
}
