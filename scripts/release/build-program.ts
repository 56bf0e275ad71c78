/** Builds one single program. */
import { execFileSync } from "node:child_process";
import { chmodSync, createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { packageRoot } from "../../src/bundling/write-bundle.ts";
import type { ProgramBundle } from "./assets.ts";
import { describeLicenses, nodeComponent, npmComponents } from "./components.ts";
import { archiveEngines } from "./engine-archives.ts";
import { fetchNode, stripTo } from "./node-binary.ts";
import { describeMaterials } from "./sbom.ts";
import { signMachO } from "./sign-mach-o.ts";
import { type Flavor, type Target, targets } from "./targets.ts";
import { unsignPe } from "./unsign-pe.ts";
import { version } from "../../src/version.ts";

/** What is built. */
interface ProgramOptions {
  readonly target: Target;
  readonly flavor: Flavor;
  readonly bundle: ProgramBundle;
  /** Absolute path of the folder for programs. */
  readonly out: string;
}

/** A program that was built. */
interface BuiltProgram {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Bytes after gzip at level 9. */
  readonly gzip: number;
  /** What a user should know of it. */
  readonly notes: readonly string[];
}

/** Arguments of Node.js that a single program always has: start.cjs uses `node:vfs`, which is experimental. */
const nodeArguments = ["--experimental-vfs", "--disable-warning=ExperimentalWarning"];

/** Builds a program, and beside it its bill of materials (`.cdx.json`) and the licences of what it contains (`.licenses.txt`). Needs Linux on x64, whose Node.js adds the assets to the binaries of all targets. */
export async function buildProgram({ target, flavor, bundle, out }: ProgramOptions): Promise<BuiltProgram> {
  const builderTarget = targets.find(
    ({ platform, architecture }) => platform === process.platform && architecture === process.arch,
  );
  if (builderTarget === undefined) throw new Error(`single programs are not built on ${process.platform} ${process.arch}`);
  const cache = join(packageRoot, "node_modules", ".cache", "single-programs");
  const builder = await fetchNode(builderTarget, cache);
  const binary = await fetchNode(target, cache);
  const work = join(out, "work");
  mkdirSync(work, { recursive: true });
  const node = join(work, `node-${target.name}`);
  const stripped = stripTo(target, binary, node);
  if (target.platform === "win32") writeFileSync(node, unsignPe(readFileSync(node)));
  const path = join(out, `${flavor}-${target.name}${target.platform === "win32" ? ".exe" : ""}`);
  const config = join(work, `${flavor}-${target.name}.json`);
  const engines = flavor === "inferyard-omni" ? await archiveEngines(target, work) : { assets: {}, notes: [], components: [] };
  const settings = {
    main: join(import.meta.dirname, "start.cjs"),
    output: path,
    executable: node,
    disableExperimentalSEAWarning: true,
    execArgv: nodeArguments,
    assets: { ...bundle.assets, ...engines.assets },
  };
  writeFileSync(config, JSON.stringify(settings));
  execFileSync(builder, ["--build-sea", config], { stdio: ["ignore", "ignore", "inherit"] });
  if (target.platform === "darwin") writeFileSync(path, signMachO(readFileSync(path), `dev.inferyard.${flavor}`));
  chmodSync(path, 0o755);
  let gzip = 0;
  await pipeline(createReadStream(path), createGzip({ level: 9 }), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) gzip += chunk.length;
  });
  const notes = [
    ...engines.notes,
    ...(target.strip.length > 0 && stripped === undefined ? ["not stripped: no program for that is installed"] : []),
    ...(target.name === "linux-x64" ? [] : ["not run here"]),
  ];
  const nodePackage = join(dirname(binary), ...(target.binary.includes("/") ? [".."] : []));
  const components = [...npmComponents(bundle.packages), nodeComponent(nodePackage), ...engines.components];
  writeFileSync(`${path}.cdx.json`, describeMaterials({ name: flavor, version, type: "application" }, components));
  writeFileSync(`${path}.licenses.txt`, describeLicenses(components));
  return { path, size: statSync(path).size, gzip, notes };
}
