/** Builds an image: a root folder of Debian packages without a shell, the single program, and for `inferyard-omni` the engines beside it. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageRoot as repository } from "../../src/bundling/write-bundle.ts";
import { makeDebianRoot } from "./debian-root.ts";
import { debianComponents } from "./components.ts";
import { engineComponents, prepareEngines } from "./engine-archives.ts";
import { describeMaterials, readMaterials } from "./sbom.ts";
import { type Flavor, targets } from "./targets.ts";

/** Unpacked sizes in MB (1,000,000 bytes) that images must not exceed. */
export const imageBudgets: Readonly<Record<Flavor, number>> = { inferyard: 190, "inferyard-omni": 600 };

/** An image that was built. */
interface BuiltImage {
  readonly tag: string;
  /** Bytes of all files. */
  readonly size: number;
  /** What the image lacks. */
  readonly notes: readonly string[];
}

/**
 * Builds the image inferyard:VERSION or inferyard:omni-VERSION from the single program in the folder `out`, which `npm run dist` made with its bill of materials and licences: both images have the program
 * without engines, and the omni image has the engines as files, so that nothing is unpacked at a start. Needs Debian, root and buildah.
 */
export async function buildImage(flavor: Flavor, out: string): Promise<BuiltImage> {
  const context = join(out, "image", flavor);
  const root = join(context, "root");
  rmSync(context, { recursive: true, force: true });
  const components = [...debianComponents(makeDebianRoot(root))];
  const program = join(out, "inferyard-linux-x64");
  copyReadable(program, join(root, "usr/bin/inferyard"), 0o755);
  const documents = join(root, "usr/share/doc/inferyard");
  for (const name of ["LICENSE", "NOTICE"]) copyReadable(join(repository, name), join(documents, name));
  copyReadable(`${program}.licenses.txt`, join(documents, "THIRD-PARTY-LICENSES"));
  components.push(...readMaterials(readFileSync(`${program}.cdx.json`, "utf8")));
  const notes: string[] = [];
  if (flavor === "inferyard-omni") {
    const work = join(out, "work");
    mkdirSync(work, { recursive: true });
    const prepared = await prepareEngines(targets[0]!, work);
    notes.push(...prepared.notes);
    components.push(...engineComponents(prepared.engines));
    for (const { name, folder, path, files } of prepared.engines) {
      // Plugins of XLA are found in /usr/local/lib by their names.
      const isPlugin = (file: string): boolean => file.endsWith(".so");
      for (const file of name === "xla" ? files.filter(isPlugin) : files) {
        const to = name === "xla" ? join("usr/local/lib", file.split("/").at(-1) ?? "") : join("usr/lib/inferyard", folder, file);
        copyReadable(join(path, file), join(root, to), 0o644);
      }
    }
  }
  mkdirSync(join(root, "data"));
  chmodSync(join(root, "data"), 0o777); // platforms start images with a uid of their own
  const { version, description } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as Record<string, string>;
  const tag = flavor === "inferyard" ? `inferyard:${version}` : `inferyard:omni-${version}`;
  const subject = { name: flavor, version: version ?? "", type: "container" } as const;
  writeFileSync(join(documents, "sbom.cdx.json"), describeMaterials(subject, components), { mode: 0o644 });
  const revision = execFileSync("git", ["rev-parse", "HEAD"], { cwd: repository, encoding: "utf8" }).trim();
  const values = [`VERSION=${version}`, `REVISION=${revision}`, `DESCRIPTION=${description}`];
  const file = join(repository, "deploy/image/Containerfile");
  const format = ["--isolation", "chroot", "--format", "docker", "--timestamp", "0", "--layers=false"]; // the OCI format has no health check
  const named = values.flatMap((value) => ["--build-arg", value]);
  execFileSync("buildah", ["bud", ...format, ...named, "-f", file, "-t", tag, context], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { tag, size: sizeOf(root), notes };
}

/** Copies a file that every user may read. */
function copyReadable(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

function sizeOf(path: string): number {
  const status = lstatSync(path);
  return status.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : status.size;
}
