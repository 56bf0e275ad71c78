/** Makes a root folder of Debian packages, without a shell or a package manager: for images, and to test that programs need nothing else. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a single program needs: the C and C++ libraries that Node.js is linked to, and the certificates of authorities. */
export const programPackages: readonly string[] = [
  "libc6",
  "libgcc-s1",
  "libstdc++6",
  "libatomic1",
  "ca-certificates",
  "base-files",
];

/** Folders of packages that a program does not need. */
const left = [
  "usr/share/doc",
  "usr/share/man",
  "usr/share/locale",
  "usr/share/gcc",
  "usr/share/gdb",
  "usr/share/lintian",
  "usr/share/bug",
];

/** Unpacks packages of Debian (`apt-get download`, `dpkg -x`) into the folder `root`, which is made. Needs Debian, and its package lists (`apt-get update`). */
export function makeDebianRoot(root: string, packages: readonly string[] = programPackages): void {
  const downloads = mkdtempSync(join(tmpdir(), "inferyard-debian-"));
  try {
    execFileSync("apt-get", ["download", "-q", ...packages], { cwd: downloads, stdio: ["ignore", "ignore", "pipe"] });
    mkdirSync(root, { recursive: true });
    for (const file of readdirSync(downloads)) execFileSync("dpkg", ["-x", join(downloads, file), root]);
    for (const folder of left) rmSync(join(root, folder), { recursive: true, force: true });
    mkdirSync(join(root, "tmp"), { recursive: true, mode: 0o1777 });
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}
