/** File names of wheels: their tags, and whether they fit a machine (https://packaging.python.org/en/latest/specifications/binary-distribution-format/). */
import { compareVersions } from "../../devices/index.ts";

/** The parts of a wheel's file name that a library without Python code depends on. */
export interface WheelName {
  /** Normalized name of the package: lower case, with hyphens. */
  readonly package: string;
  readonly version: string;
  /** Platform tags, such as "manylinux_2_27_x86_64"; several in one name. */
  readonly platforms: readonly string[];
}

/** A machine that wheels must fit. */
export interface WheelMachine {
  readonly platform: NodeJS.Platform;
  /** Architecture as Node.js names it, such as "x64". */
  readonly architecture: string;
  /** The C library of Linux with its version, such as "2.36"; undefined where it is not known. */
  readonly libc?: { readonly name: "glibc" | "musl"; readonly version: string } | undefined;
}

/** Normalizes the name of a package (https://packaging.python.org/en/latest/specifications/name-normalization/). */
export function normalizedPackage(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** Parses name-version[-build]-python-abi-platform.whl. Undefined for another name. */
export function parseWheelName(fileName: string): WheelName | undefined {
  const parts = fileName.endsWith(".whl") ? fileName.slice(0, -4).split("-") : [];
  if (parts.length !== 5 && parts.length !== 6) return undefined;
  const [name = "", version = ""] = parts;
  if (name === "" || !/^\d/.test(version)) return undefined;
  return { package: normalizedPackage(name), version, platforms: (parts.at(-1) ?? "").split(".") };
}

/** Names of architectures in tags, by Node.js's names. */
const tagArchitectures: Readonly<Record<string, readonly string[]>> = {
  x64: ["x86_64", "amd64", "universal2"],
  arm64: ["aarch64", "arm64", "universal2"],
};

/** glibc versions of the tags before PEP 600. */
const olderTags: Readonly<Record<string, string>> = { manylinux1: "2.5", manylinux2010: "2.12", manylinux2014: "2.17" };

/** Why a wheel does not fit a machine; undefined if it does. Tags of Python versions are not looked at, since no Python code runs. */
export function wheelMisfit({ platforms }: WheelName, machine: WheelMachine): string | undefined {
  const reasons = platforms.map((tag) => tagMisfit(tag, machine));
  return reasons.includes(undefined) ? undefined : reasons.join("; ");
}

function tagMisfit(tag: string, { platform, architecture, libc }: WheelMachine): string | undefined {
  if (tag === "any") return undefined;
  const [, system = "", tagArchitecture = ""] =
    /^(manylinux(?:_\d+_\d+|1|2010|2014)|musllinux_\d+_\d+|linux|macosx_\d+_\d+|win)_(\w+)$/.exec(tag) ?? [];
  const own = tagArchitectures[architecture] ?? [architecture];
  const systems: Readonly<Record<string, RegExp>> = { linux: /linux/, darwin: /^macosx/, win32: /^win/ };
  if (system === "" || systems[platform]?.test(system) !== true) return `it is for ${tag}, and this is ${platform}`;
  if (!own.includes(tagArchitecture)) return `it is for ${tagArchitecture}, and this is ${architecture}`;
  const wanted = /^(many|musl)linux/.exec(system)?.[1] === "musl" ? "musl" : "glibc";
  if (platform !== "linux" || system === "linux" || libc === undefined) return undefined;
  if (libc.name !== wanted) return `it is for ${wanted}, and this program uses ${libc.name}`;
  const version = olderTags[system] ?? system.replace(/^(?:many|musl)linux_/, "").replace("_", ".");
  return compareVersions(version, libc.version) > 0
    ? `it needs ${wanted} ${version}, and this machine has ${libc.version}`
    : undefined;
}

/** Orders versions of packages, the newest last: by their numbers; a release is newer than its pre-releases (PEP 440). */
export function compareWheelVersions(one: string, other: string): number {
  const [a, b] = [versionKey(one), versionKey(other)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether a version is a pre-release or a development release. */
export function isPreRelease(version: string): boolean {
  return /(?:a|b|rc|alpha|beta|c|pre|preview|dev)[._-]?\d*/i.test(version.split("+")[0] ?? "");
}

const numbersOfRelease = 8;
/** Development releases come before alphas, betas, candidates, the release, and post-releases. */
const phases: readonly [RegExp, number][] = [
  [/post|rev|r(?=\d)/i, 2],
  [/rc|c|pre|preview/i, -1],
  [/b|beta/i, -2],
  [/a|alpha/i, -3],
  [/dev/i, -4],
];

function versionKey(text: string): readonly number[] {
  const [, epoch = "0", release = "0", rest = ""] = /^v?(?:(\d+)!)?([\d.]+)(.*)$/.exec(text.split("+")[0] ?? "") ?? [];
  const numbers = release.split(".").map(Number).slice(0, numbersOfRelease);
  const padded = [...numbers, ...Array.from({ length: numbersOfRelease - numbers.length }, () => 0)];
  const phase = rest === "" ? 0 : (phases.find(([pattern]) => pattern.test(rest))?.[1] ?? 0);
  return [Number(epoch), ...padded, phase, Number(/\d+/.exec(rest)?.[0] ?? 0)];
}
