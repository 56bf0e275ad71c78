import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findCuda } from "./find-cuda.ts";

it("finds the libraries of wheels and toolkits, newer ones first, each file once", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "inferyard-cuda-")));
  const wheels = join(folder, "venv/lib/python3.11/site-packages/nvidia");
  const write = (path: string): string => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "a library");
    return path;
  };
  try {
    const older = write(join(folder, "cuda/lib64/libnvrtc.so.11.8.89"));
    const newer = write(join(folder, "cuda/lib64/libnvrtc.so.13"));
    symlinkSync(older, join(folder, "cuda/lib64/libnvrtc.so"));
    write(join(folder, "cuda/lib64/libnvrtc-builtins.so.13.0"));
    const ofWheel = write(join(wheels, "cuda_nvrtc/lib/libnvrtc.so.12"));
    const cublas = write(join(wheels, "cublas/lib/libcublas.so.12"));
    write(join(wheels, "cublas/lib/libcublasLt.so.12"));
    const driver = write(join(folder, "driver/libcuda.so.1"));
    const environment = {
      CUDA_HOME: join(folder, "cuda"),
      VIRTUAL_ENV: join(folder, "venv"),
      LD_LIBRARY_PATH: join(folder, "driver"),
    };
    const found = await findCuda(environment);
    const own = (paths: readonly string[]) => paths.filter((path) => path.startsWith(folder)).map((path) => realpathSync(path));
    expect(own(found.nvrtc)).toEqual([newer, older, ofWheel]);
    expect(own(found.cublas)).toEqual([cublas]);
    expect(own(found.driver)).toEqual([driver]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
