/** A MacBook Pro with an Apple M3 and 24 GB. Composed from the output that sysctl, system_profiler and vm_stat print on macOS 14; cut to the lines that are read and some that must not be. */
import type { Recording } from "./recording.ts";

/** macOS on arm64 with an Apple M3: eight cores, a Metal 3 GPU with ten cores, 24 GiB of unified memory. */
export const macM3: Recording = {
  platform: "darwin",
  architecture: "arm64",
  environment: { PATH: "/opt/homebrew/bin:/usr/bin:/bin" },
  files: { "/System/Library/Frameworks/CoreML.framework/CoreML": "", "/usr/lib/libobjc.A.dylib": "" },
  commands: {
    "/usr/sbin/sysctl hw.optional": `hw.optional.arm.FEAT_FlagM: 1
hw.optional.arm.FEAT_FHM: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_BF16: 1
hw.optional.arm.FEAT_I8MM: 1
hw.optional.arm.FEAT_FP16: 1
hw.optional.arm.FEAT_SME: 0
hw.optional.floatingpoint: 1
hw.optional.neon: 1
hw.optional.neon_hpfp: 1
hw.optional.AdvSIMD: 1
hw.optional.arm64: 1
`,
    "/usr/bin/vm_stat ": `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               30589.
Pages active:                            422224.
Pages inactive:                          419065.
Pages speculative:                         5280.
Pages throttled:                              0.
Pages wired down:                         92865.
Pages purgeable:                           2074.
"Translation faults":                2059157267.
`,
    "/usr/sbin/system_profiler -json SPDisplaysDataType": `{
  "SPDisplaysDataType" : [
    {
      "_name" : "kHW_AppleM3Item",
      "spdisplays_mtlgpufamilysupport" : "spdisplays_metal3",
      "spdisplays_ndrvs" : [ { "_name" : "Color LCD", "spdisplays_main" : "spdisplays_yes" } ],
      "spdisplays_vendor" : "sppci_vendor_Apple",
      "sppci_bus" : "spdisplays_builtin",
      "sppci_cores" : "10",
      "sppci_device_type" : "spdisplays_gpu",
      "sppci_model" : "Apple M3"
    }
  ]
}
`,
  },
  cpuModel: "Apple M3",
  processors: 8,
  totalMemory: 24 * 1024 ** 3,
  freeMemory: 400 * 1024 ** 2,
};
