// Completes package-lock.json after `npm install` on a registry that lacks some platforms' binaries: npm 11's `npm ci` refuses a lock
// that leaves an optional dependency out, on any platform. Adds version, system and processor of each; run with `npm run lock`.
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "arm", "x64", "ppc64", "riscv64", "s390x", "ia32"]; // "arm" also stands in gnueabihf names

function platformOf(name) {
  const words = name.split("/").at(-1);
  const os = systems.find((system) => words.includes(system)) ?? { mac: "darwin", win: "win32" }[words.split("-")[0]];
  const cpu = processors.find((processor) => words.includes(processor));
  const libc = os === "linux" ? { "-musl": ["musl"], "-gnu": ["glibc"] }[/-(?:musl|gnu)$/.exec(words)?.[0]] : undefined;
  return os && cpu ? { os: [os], cpu: [cpu], ...(libc && { libc }) } : undefined;
}

for (const { optionalDependencies = {} } of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const platform = platformOf(name);
    if (lock.packages[`node_modules/${name}`] || !platform) continue;
    lock.packages[`node_modules/${name}`] = { version, dev: true, optional: true, ...platform };
    console.log(`added ${name} ${version}`);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
