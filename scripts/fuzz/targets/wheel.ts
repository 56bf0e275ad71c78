/** Wheels: listed and unpacked; what is accepted has the size and checksum that the archive states, and nothing is written outside the folder. */
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ZipArchive } from "../../../src/libraries/wheels/zip-archive.ts";
import { wheelBytes, zipBytes } from "../../../test/fixtures/zip-bytes.ts";
import { mutateZip } from "../mutations/mutate-zip.ts";
import { scratchFolder } from "../scratch-folder.ts";
import { type FuzzTarget, mustHold } from "../target.ts";

export const wheel: FuzzTarget = {
  codes: ["INPUT_INVALID", "LIMIT_EXCEEDED"],
  seeds: () => [
    wheelBytes("a-package", "1.0", [
      { name: "p/plugin.so", content: Buffer.from(`\u007FELF${"text ".repeat(200)}`) },
      { name: "p/", content: "" },
    ]),
    zipBytes([
      { name: "stored.so", content: "stored", method: 0 },
      { name: "empty", content: "" },
    ]),
    zipBytes([]),
  ],
  mutate: mutateZip,
  dictionary: [
    "PK\u0001\u0002",
    "PK\u0003\u0004",
    "PK\u0005\u0006",
    "../",
    "/",
    "\\",
    "METADATA",
    "RECORD",
    "\u00FF\u00FF\u00FF\u00FF",
  ],
  maxBytes: 16_384,
  open: async () => {
    const folder = scratchFolder();
    const [file, target] = [join(folder.path, "p.whl"), join(folder.path, "unpacked")];
    return {
      async run(input) {
        writeFileSync(file, input);
        const archive = await ZipArchive.open(file);
        try {
          for (const entry of archive.entries.slice(0, 20)) {
            rmSync(target, { force: true });
            const { bytes } = await archive.extract(entry, target);
            mustHold(
              bytes === entry.bytes && statSync(target).size === bytes,
              () => `${entry.path} has another size than stated`,
            );
            mustHold(
              !entry.path.startsWith("/") && !entry.path.split("/").includes(".."),
              () => `${entry.path} leads out of the folder`,
            );
          }
        } finally {
          await archive.close();
          const strangers = readdirSync(folder.path).filter((name) => ![basename(file), basename(target)].includes(name));
          mustHold(strangers.length === 0, () => `these were written beside the target: ${strangers.join()}`);
        }
      },
      close: () => folder.remove(),
    };
  },
};
