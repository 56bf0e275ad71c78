import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { compile, needsPrograms } from "../../../test/libraries/fixtures/native-libraries.ts";
import { digestOfFiles, readLoadedFiles } from "./loaded-files.ts";

const [skip, name] = needsPrograms("the files of a library that gcc builds", "gcc");
const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

describe.skipIf(skip || process.platform !== "linux")(name, () => {
  let folder = "";
  let library = "";
  const files = async (path = library, environment = {}): Promise<string[]> =>
    (await readLoadedFiles(path, environment)).map((file) => file.name);

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "inferyard-loaded-files-")));
    const build = join(folder, "build");
    mkdirSync(build);
    const shared = (file: string): string[] => ["-shared", "-fPIC", `-Wl,-soname,${file}`, "-Wl,-rpath,$ORIGIN:$ORIGIN/far"];
    const base = compile(build, "libggml-base.so.0", "int base(void) { return 1; }", ...shared("libggml-base.so.0"));
    const calls = "int base(void); int f(void) { return base(); }";
    const ggml = compile(build, "libggml.so.0", calls, ...shared("libggml.so.0"), base);
    compile(build, "libggml-cpu-a.so", calls, ...shared("libggml-cpu-a.so"), base);
    const far = compile(build, "libfar.so", "int far_away(void) { return 1; }", ...shared("libfar.so"));
    const gpu = "int far_away(void); int g(void) { return far_away(); }";
    compile(build, "libggml-cuda.so", gpu, ...shared("libggml-cuda.so"), far);
    mkdirSync(join(build, "far"));
    renameSync(far, join(build, "far/libfar.so"));
    const source = "#include <math.h>\nint f(void); int l(double x) { return f() + (int)cos(x); }";
    library = compile(build, "libllama.so.0", source, ...shared("libllama.so.0"), ggml, "-Wl,--allow-shlib-undefined", "-lm");
    writeFileSync(join(build, "libggml-readme.txt"), "");
    writeFileSync(join(build, "libother.so"), "");
    symlinkSync(join(folder, "none"), join(build, "libggml-gone.so"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const all = ["libllama.so.0", "libfar.so", "libggml-base.so.0", "libggml-cpu-a.so", "libggml-cuda.so", "libggml.so.0"];

  it("are what it needs by others, the backends beside it and what these need, without the system's", async () => {
    expect(await files()).toEqual(all);
    const loaded = await readLoadedFiles(library);
    for (const { path, sha256: digest } of loaded) expect(digest).toBe(sha256(path));
    expect(digestOfFiles(loaded)).not.toBe(loaded[0].sha256);
    expect(digestOfFiles(loaded.slice(0, 1))).toBe(loaded[0].sha256);
  });

  it("are those beside the file that a link leads to", async () => {
    const link = join(folder, "libllama.so");
    symlinkSync(library, link);
    // The loader resolves $ORIGIN to the folder of the link, and finds no library there; ggml looks for backends in the folder of the file.
    expect(await files(link)).toEqual(["libllama.so", ...all.slice(1, 5)]);
    expect((await readLoadedFiles(link))[0]).toMatchObject({ path: library, sha256: sha256(library) });
    expect(await files(link, { LD_LIBRARY_PATH: dirname(library) })).toEqual(["libllama.so", ...all.slice(1)]);
  });

  it("count a backend of GGML_BACKEND_PATH, and a file that appears", async () => {
    const own = join(folder, "libmine.so");
    writeFileSync(own, "none");
    expect(await files(library, { GGML_BACKEND_PATH: own })).toEqual([...all, "libmine.so"]);
    const appeared = join(dirname(library), "libggml-zz.so");
    writeFileSync(appeared, "no library");
    onTestFinished(() => rmSync(appeared));
    expect(await files()).toContain("libggml-zz.so");
  });
});
