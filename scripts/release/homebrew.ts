/** Writes the formula of Homebrew for the single programs in a folder. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Target, targets } from "./targets.ts";

/** Words of Homebrew for machines. */
const systems: Readonly<Record<string, string>> = { darwin: "on_macos", linux: "on_linux" };
const processors: Readonly<Record<Target["architecture"], string>> = { arm64: "on_arm", x64: "on_intel" };

/**
 * The formula of a version: Homebrew downloads the program for the machine from `address/FILE` and compares its SHA-256. Programs that are not in `folder` are left out. Throws if
 * there is none, or if the address is not HTTPS.
 */
export function describeFormula(folder: string, version: string, address: string, description: string): string {
  if (new URL(address).protocol !== "https:") throw new Error(`${address} is not an address of HTTPS`);
  const built = targets.flatMap(({ name, platform, architecture }) => {
    const path = join(folder, `inferyard-${name}`);
    const system = systems[platform];
    if (system === undefined || !existsSync(path)) return [];
    const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
    return [{ system, processor: processors[architecture], url: `${address}/${basename(path)}`, sha256 }];
  });
  if (built.length === 0) throw new Error(`${folder} has no single program: npm run dist makes them`);
  const blocks = Object.values(systems).flatMap((system) => {
    const own = built.filter((each) => each.system === system);
    if (own.length === 0) return [];
    const inside = own.flatMap(({ processor, url, sha256 }) => [
      `    ${processor} do`,
      `      url ${JSON.stringify(url)}`,
      `      sha256 ${JSON.stringify(sha256)}`,
      "    end",
    ]);
    return ["", `  ${system} do`, ...inside, "  end"];
  });
  const sentence = description.replace(/\.$/, "");
  return [
    "class Inferyard < Formula",
    `  desc ${JSON.stringify(sentence.length > 80 ? "Runs ONNX, GGUF and safetensors models on the engine that fits the machine" : sentence)}`,
    `  homepage ${JSON.stringify(address)}`,
    `  version ${JSON.stringify(version)}`,
    '  license "Apache-2.0"',
    ...blocks,
    "",
    "  def install",
    '    bin.install Dir["inferyard-*"].first => "inferyard"',
    "  end",
    "",
    "  service do",
    '    run [opt_bin/"inferyard", "serve"]',
    "    keep_alive true",
    "  end",
    "",
    "  test do",
    '    assert_match version.to_s, shell_output("#{bin}/inferyard --version")',
    "  end",
    "end",
    "",
  ].join("\n");
}
