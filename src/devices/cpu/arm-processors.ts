/** Names of Arm processors. Linux on Arm reports numbers of the MIDR_EL1 register where it reports a name on x86. */

/** Names by implementer and part. Source: Linux arch/arm64/include/asm/cputype.h and util-linux sys-utils/lscpu-arm.c. */
const names: Readonly<Record<string, string>> = {
  "0x41:0xd03": "Cortex-A53",
  "0x41:0xd05": "Cortex-A55",
  "0x41:0xd08": "Cortex-A72",
  "0x41:0xd0b": "Cortex-A76",
  "0x41:0xd0c": "Neoverse-N1",
  "0x41:0xd40": "Neoverse-V1",
  "0x41:0xd41": "Cortex-A78",
  "0x41:0xd44": "Cortex-X1",
  "0x41:0xd49": "Neoverse-N2",
  "0x41:0xd4f": "Neoverse-V2",
  "0x41:0xd83": "Neoverse-V3AE",
  "0x41:0xd84": "Neoverse-V3",
  "0x41:0xd8e": "Neoverse-N3",
  "0xc0:0xac3": "Ampere-1",
  "0xc0:0xac4": "Ampere-1a",
};

/**
 * The distinct processors in /proc/cpuinfo, for example "Cortex-A55 + Cortex-A76". Undefined if it has no Arm processor
 * numbers.
 */
export function armProcessorNames(cpuinfo: string): string | undefined {
  const parts = new Set<string>();
  for (const [, implementer, part] of cpuinfo.matchAll(/^CPU implementer\s*:\s*(\S+)$[^]*?^CPU part\s*:\s*(\S+)$/gm)) {
    parts.add(names[`${implementer}:${part}`] ?? `Arm processor (implementer ${implementer}, part ${part})`);
  }
  return parts.size === 0 ? undefined : [...parts].join(" + ");
}
