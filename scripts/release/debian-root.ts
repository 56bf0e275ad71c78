/** Makes a root folder of Debian packages, without a shell or a package manager: for images, and to test that programs need nothing else. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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

/** A package that was unpacked. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** Files and folders of packages that a program does not need; programs of libc6 and ca-certificates are scripts, which there is no shell for. */
const left = [
  ...["bug", "common-licenses", "dict", "doc-base", "gcc", "gdb", "info", "lintian", "locale", "man", "misc", "pixmaps"].map(
    (name) => `usr/share/${name}`,
  ),
  ...["bin", "games", "include", "sbin", "src"].map((name) => `usr/${name}`),
  ...["ca-certificates", "default", "issue", "issue.net", "profile.d", "skel", "update-motd.d"].map((name) => `etc/${name}`),
  "bin",
  "boot",
  "home",
  "media",
  "mnt",
  "opt",
  "root",
  "sbin",
  "srv",
  "var",
];

/** /etc/passwd. */
const users = "root:x:0:0:root:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/data:/sbin/nologin\n";

/**
 * Unpacks packages of Debian (`apt-get download`, `dpkg -x`) into the folder `root`, which is made, and returns them. Of their documentation the licences are kept, and what they are in
 * /var/lib/dpkg/status.d, which scanners of images read. Needs Debian, and its package lists (`apt-get update`).
 */
export function makeDebianRoot(root: string, packages: readonly string[] = programPackages): readonly DebianPackage[] {
  const downloads = mkdtempSync(join(tmpdir(), "inferyard-debian-"));
  try {
    const unpack = (names: readonly string[]): void => {
      if (names.length === 0) return;
      const before = readdirSync(downloads);
      execFileSync("apt-get", ["download", "-q", ...names], { cwd: downloads, stdio: ["ignore", "ignore", "pipe"] });
      mkdirSync(root, { recursive: true });
      for (const file of readdirSync(downloads).filter((name) => !before.includes(name)))
        execFileSync("dpkg", ["-x", join(downloads, file), root]);
    };
    unpack(packages);
    unpack(linkedDocumentation(join(root, "usr/share/doc")));
    writeAuthorities(root);
    for (const path of left) rmSync(join(root, path), { recursive: true, force: true });
    const documentation = readdirSync(join(root, "usr/share/doc"), { withFileTypes: true });
    for (const folder of documentation
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(root, "usr/share/doc", name)))
      for (const name of readdirSync(folder)) if (name !== "copyright") rmSync(join(folder, name), { recursive: true });
    for (const [name, content] of [
      ["passwd", users],
      ["group", "root:x:0:\nnonroot:x:65532:\n"],
      ["nsswitch.conf", "hosts: files dns\n"],
    ] as const)
      writeFileSync(join(root, "etc", name), content);
    const status = join(root, "var/lib/dpkg/status.d");
    for (const folder of [status, join(root, "tmp"), join(root, "usr/bin")]) mkdirSync(folder, { recursive: true });
    chmodSync(join(root, "tmp"), 0o1777);
    return readdirSync(downloads)
      .toSorted()
      .map((file) => {
        const control = execFileSync("dpkg-deb", ["-f", join(downloads, file)], { encoding: "utf8" });
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? "";
        writeFileSync(join(status, field("Package")), control);
        return { name: field("Package"), version: field("Version"), architecture: field("Architecture") };
      });
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

/** Packages that have the documentation of those that were unpacked, whose own folder is a link: libgcc-s1 of gcc-12-base. */
function linkedDocumentation(folder: string): readonly string[] {
  const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return [...new Set(links.map(({ name }) => readlinkSync(join(folder, name))))].filter(
    (name) => !existsSync(join(folder, name)),
  );
}

/** Writes /etc/ssl/certs/ca-certificates.crt, as the script of ca-certificates does, and removes what it is made of. */
function writeAuthorities(root: string): void {
  const folder = join(root, "usr/share/ca-certificates");
  const certificates = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".crt"));
  const content = certificates.toSorted().map((name) => readFileSync(join(folder, name), "utf8"));
  mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
  writeFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), content.join(""));
  rmSync(folder, { recursive: true });
}
