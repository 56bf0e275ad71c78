/** What programs and images contain beside our own code, with the licences. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { packageRoot as root } from "../../src/bundling/write-bundle.ts";
import type { DebianPackage } from "./debian-root.ts";
import { nodeVersion } from "./targets.ts";

/** A part of a program or an image that somebody else published. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** Package URL (https://github.com/package-url/purl-spec). */
  readonly purl: string;
  /** SPDX expression; undefined if the publisher states none. */
  readonly license?: string | undefined;
  /** Texts of its licence files. Debian's are in the image. */
  readonly texts: readonly string[];
}

/** What is read of a package.json. */
interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

/** C libraries that npm packages contain as WebAssembly, by package. Their licences count beside the package's own. */
const compiledLibraries: Readonly<Record<string, readonly { name: string; license: string; source: string }[]>> = {
  "mpg123-decoder": [{ name: "libmpg123", license: "LGPL-2.1-only", source: "https://www.mpg123.de" }],
  "@wasm-audio-decoders/flac": [{ name: "libflac", license: "BSD-3-Clause", source: "https://github.com/xiph/flac" }],
  "@wasm-audio-decoders/ogg-vorbis": [
    { name: "libogg", license: "BSD-3-Clause", source: "https://github.com/xiph/ogg" },
    { name: "libvorbis", license: "BSD-3-Clause", source: "https://github.com/xiph/vorbis" },
  ],
};

/** The MIT licence (https://spdx.org/licenses/MIT), for packages that state it and have no file of it. */
function mitText(holder: string): string {
  return `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
}

/** Names of files with licences and notices. */
const licenseFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** The npm packages in these folders, below `base`. Throws for a folder without package.json. */
export function npmComponents(folders: readonly string[], base: string = root): readonly Component[] {
  return folders.flatMap((folder): Component[] => {
    const path = join(base, folder);
    const { name, version, license, author } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as PackageManifest;
    const files = readdirSync(path).filter((file) => licenseFile.test(file) && !/\.(?:[cm]?js|json)$/.test(file));
    const texts = files.toSorted().map((file) => readFileSync(join(path, file), "utf8").trim());
    const holder = (typeof author === "string" ? author : author?.name) ?? `the authors of ${name}`;
    if (texts.length === 0 && license === "MIT") texts.push(mitText(holder));
    const compiled = (compiledLibraries[name] ?? []).map((library): Component => ({
      name: library.name,
      version: `as in ${name} ${version}`,
      purl: `pkg:generic/${library.name}`,
      license: library.license,
      texts: [
        `Compiled to WebAssembly in ${name}, which says how: https://www.npmjs.com/package/${name}. Its source and licence: ${library.source}`,
      ],
    }));
    return [{ name, version, purl: `pkg:npm/${name.replace("@", "%40")}@${version}`, license, texts }, ...compiled];
  });
}

/** Node.js, whose licence has those of all that it contains. `folder`: the npm package that its binary is from. */
export function nodeComponent(folder: string): Component {
  const texts = [readFileSync(join(folder, "LICENSE"), "utf8").trim()];
  return { name: "node", version: nodeVersion, purl: `pkg:generic/node@${nodeVersion}`, license: "MIT", texts };
}

/** Packages of Debian; their licences are files of the image. */
export function debianComponents(packages: readonly DebianPackage[]): readonly Component[] {
  return packages.map(({ name, version, architecture }) => ({
    name,
    version,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
    texts: [],
  }));
}

/** A package of Python, of which a library was taken. */
export function pythonComponent(name: string, version: string): Component {
  return { name, version, purl: `pkg:pypi/${name}@${version}`, texts: [] };
}

/** Folders of all npm packages below a folder `node_modules` of an engine, relative to `base`. */
export function packageFolders(base: string, prefix = "node_modules"): readonly string[] {
  const modules = join(base, prefix);
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => (name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name]));
  return names.toSorted().flatMap((name) => {
    const folder = `${prefix}/${name}`;
    const isPackage = existsSync(join(base, folder, "package.json"));
    return [...(isPackage ? [folder] : []), ...packageFolders(base, `${folder}/node_modules`)];
  });
}

/** The text of a file with the licences of all components. */
export function describeLicenses(components: readonly Component[]): string {
  const parts = components.map(({ name, version, license, texts }) =>
    [`${name} ${version}: ${license ?? "see its files"}`, ...texts].join("\n\n"),
  );
  return `Licences of what is part of this program\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
