/** The npm packages of each engine, and which of them a machine needs. */
import { invalidInput } from "../../contract/errors.ts";
import type { EnginePackage } from "./engine-package.ts";
import { enginePackages } from "./generated-engine-packages.ts";

/** What is installed from npm: the packages of two backends, and koffi, through which others call native libraries. */
export type EngineName = keyof typeof enginePackages;

/** All engines. */
export const engineNames: readonly EngineName[] = ["onnx", "llamacpp", "koffi"];

/** What llama.cpp can be built for; "cpu" is Metal on Apple silicon, whose only build has it. */
export const llamaAccelerators = ["cpu", "cuda", "vulkan", "metal"] as const;

/** One of them. */
export type LlamaAccelerator = (typeof llamaAccelerators)[number];

/** The machine that packages are for, in the words of `process.platform` and `process.arch`. */
export interface PackageMachine {
  readonly platform: string;
  readonly architecture: string;
}

/** Name of a package: "@node-llama-cpp/linux-x64". */
export function packageName({ path }: EnginePackage): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/**
 * The packages of an engine for a machine. `accelerator` (llamacpp alone): builds besides the one for the CPU. Throws INPUT_INVALID if there is no such build for
 * the machine.
 */
export function packagesFor(
  engine: EngineName,
  { platform, architecture }: PackageMachine,
  accelerator: LlamaAccelerator = "cpu",
): readonly EnginePackage[] {
  const fitting = enginePackages[engine].filter(
    ({ os, cpu }) => (os?.includes(platform) ?? true) && (cpu?.includes(architecture) ?? true),
  );
  if (engine !== "llamacpp") return fitting;
  const builds = fitting.filter((each) => packageName(each).startsWith("@node-llama-cpp/"));
  const isFor = (each: EnginePackage): boolean => new RegExp(`-${architecture}-${accelerator}(?:-ext)?$`).test(packageName(each));
  if (builds.length === 0)
    throw invalidInput(
      `no build of llama.cpp for ${platform} ${architecture} is known by its digest`,
      "npm install node-llama-cpp --ignore-scripts, in a project with inferyard",
    );
  if (accelerator !== "cpu" && !builds.some(isFor)) {
    const names = builds.map(packageName).join(", ");
    throw invalidInput(`llama.cpp has no build for ${accelerator} on ${platform} ${architecture}`, `the builds are ${names}`);
  }
  const isWanted = (each: EnginePackage): boolean =>
    isFor(each) || new RegExp(`-${architecture}(?:-metal)?$`).test(packageName(each));
  return fitting.filter((each) => !builds.includes(each) || isWanted(each));
}
