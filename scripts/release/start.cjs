/**
 * The first script of a single program, and of each of its threads: mounts the assets of the program as files, without writing one, and imports a module among
 * them. Node.js mounts assets by itself only in the main thread (`useVfs`).
 */
"use strict";
const fs = require("node:fs");
const { createRequire, syncBuiltinESMExports } = require("node:module");
const { isAbsolute, join, posix, sep } = require("node:path");
const sea = require("node:sea");
const { pathToFileURL } = require("node:url");
const { MemoryProvider, VirtualFileSystem } = require("node:vfs");
const { isMainThread } = require("node:worker_threads");

/** Files of the assets, read-only. The content of a file is copied to this thread's memory when it is first used. */
class Assets extends MemoryProvider {
  /** By path: the keys of assets that nobody has used. */
  #unused = new Map(
    sea
      .getAssetKeys()
      .filter((key) => !key.endsWith(".tgz"))
      .map((key) => [`/${key}`, key]),
  );

  constructor() {
    super();
    for (const folder of new Set([...this.#unused.keys()].map(posix.dirname))) super.mkdirSync(folder, { recursive: true });
  }

  #copy(path) {
    const key = this.#unused.get(path);
    if (key === undefined) return;
    this.#unused.delete(path);
    super.writeFileSync(path, Buffer.from(sea.getRawAsset(key)), { mode: 0o444 });
  }

  openSync(path, ...rest) {
    this.#copy(path);
    return super.openSync(path, ...rest);
  }

  async open(path, ...rest) {
    return this.openSync(path, ...rest);
  }

  statSync(path, ...rest) {
    this.#copy(path);
    return super.statSync(path, ...rest);
  }

  async stat(path, ...rest) {
    return this.statSync(path, ...rest);
  }

  lstatSync(path, ...rest) {
    this.#copy(path);
    return super.lstatSync(path, ...rest);
  }

  async lstat(path, ...rest) {
    return this.lstatSync(path, ...rest);
  }

  readdirSync(path, ...rest) {
    for (const file of this.#unused.keys()) if (posix.dirname(file) === path) this.#copy(file);
    return super.readdirSync(path, ...rest);
  }

  async readdir(path, ...rest) {
    return this.readdirSync(path, ...rest);
  }
}

/** Once assets are mounted, Node.js 26 throws in `fs.writev`, which every WriteStream calls, and in `fs.readv`: these do the same by one call of the others. */
function mendVectors() {
  fs.writev = (file, buffers, position, callback = position) => {
    const all = Buffer.concat(buffers.map(toBytes));
    const at = typeof position === "number" ? position : null;
    fs.write(file, all, 0, all.length, at, (error, written) => callback(error, written ?? 0, buffers));
  };
  fs.readv = (file, buffers, position, callback = position) => {
    const all = Buffer.alloc(buffers.reduce((sum, { byteLength }) => sum + byteLength, 0));
    const at = typeof position === "number" ? position : null;
    fs.read(file, all, 0, all.length, at, (error, read) => {
      let start = 0;
      for (const buffer of buffers) {
        const bytes = all.subarray(start, Math.min(read, start + buffer.byteLength));
        toBytes(buffer).set(bytes);
        start += buffer.byteLength;
        if (start >= read) break;
      }
      callback(error, read, buffers);
    });
  };
  syncBuiltinESMExports();
}

const toBytes = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);

const files = new VirtualFileSystem(new Assets(), { emitExperimentalWarning: false });
files.mount();
mendVectors();
const importModule = createRequire(join(files.mountPoint, "start.cjs"))("./import.cjs");

/**
 * A child process of this program has the module that it runs as its first argument: a path that no file of the machine can have, or with `fork` of a package
 * (node-llama-cpp tries a build in a process of its own) that of a script.
 */
function takeProgram() {
  process.execArgv = []; // the program has them, whoever starts it
  const [, , first = ""] = process.argv;
  const isOwn = first.startsWith(join(files.mountPoint, "dist") + sep);
  const isForked = process.channel !== undefined && isAbsolute(first) && /\.[cm]?js$/.test(first);
  if (isOwn || isForked) process.argv.splice(1, 1);
  else process.argv[1] = join(files.mountPoint, "dist", "cli.js");
  return pathToFileURL(process.argv[1]).href;
}

importModule(isMainThread ? takeProgram() : threadProgram);
