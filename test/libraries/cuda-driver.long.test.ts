/** Asks driver libraries compiled here for their GPUs: one with two GPUs, and those that fail as NVIDIA's own do. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { askDriver } from "../../src/libraries/accelerators/cuda-driver/ask-driver.ts";

/** Each attribute's value is its number plus 1,000 for each device before, so that a mistaken one shows. */
const source = `
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef CODE
#define CODE 0
#endif
int cuInit(unsigned flags) { if (CODE == 6) abort(); return flags == 0 ? CODE : 1; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = index + 40; return index < 2 ? 0 : 101; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, device == 40 ? "NVIDIA A" : "NVIDIA B", length); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = device == 40 ? 150109880320 : 1024; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute + (device - 40) * 1000; return 0; }
#ifndef OLD
int cuGetErrorName(int code, const char **name) { *name = code == 100 ? "CUDA_ERROR_NO_DEVICE" : 0; return code == 100 ? 0 : 1; }
#endif
`;

describe("NVIDIA's driver", () => {
  let folder: string;
  let problem: string | undefined;

  const compile = (name: string, ...flags: string[]): string => {
    const path = join(folder, name);
    execFileSync("gcc", ["-shared", "-fPIC", "-o", path, join(folder, "driver.c"), ...flags], { stdio: "pipe" });
    return path;
  };

  beforeAll(() => {
    vi.stubEnv("NODE_OPTIONS", "--import tsx"); // the child is a source
    folder = mkdtempSync(join(tmpdir(), "inferyard-driver-"));
    writeFileSync(join(folder, "driver.c"), source);
    try {
      compile("libcuda.so");
    } catch (error) {
      problem = `gcc cannot compile here: ${String(error).slice(0, 120)}`;
    }
  });
  beforeEach(({ skip }) => skip(problem !== undefined, problem));
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it("states name, memory, compute capability and shared memory of each GPU", async () => {
    const device = {
      name: "NVIDIA A",
      totalBytes: 150_109_880_320,
      computeCapability: "75.76",
      multiprocessors: 16,
      sharedMemory: { perBlockBytes: 8, perBlockOptInBytes: 97, perMultiprocessorBytes: 81 },
    };
    expect(await askDriver(undefined, compile("libcuda.so"))).toEqual({
      devices: [
        device,
        {
          name: "NVIDIA B",
          totalBytes: 1024,
          computeCapability: "1075.1076",
          multiprocessors: 1016,
          sharedMemory: { perBlockBytes: 1008, perBlockOptInBytes: 1097, perMultiprocessorBytes: 1081 },
        },
      ],
    });
  });

  it("refuses in words of its own, where it has some", async () => {
    const none = compile("libcuda-none.so", "-DCODE=100");
    expect(await askDriver(undefined, none)).toEqual({ problem: `cuInit of ${none} returned 100 (CUDA_ERROR_NO_DEVICE)` });
    const stub = compile("libcuda-stub.so", "-DCODE=34");
    expect(await askDriver(undefined, stub)).toEqual({ problem: `cuInit of ${stub} returned 34` });
    const old = compile("libcuda-old.so", "-DCODE=999", "-DOLD");
    expect(await askDriver(undefined, old)).toEqual({ problem: `cuInit of ${old} returned 999` });
  });

  it("may end its process, lack a function, or be none", async () => {
    const aborting = compile("libcuda-aborts.so", "-DCODE=6");
    expect(await askDriver(undefined, aborting)).toMatchObject({ problem: expect.stringContaining("SIGABRT") as string });
    const lacking = compile("libcuda-lacks.so", "-DcuDeviceTotalMem_v2=other");
    expect(await askDriver(undefined, lacking)).toMatchObject({
      problem: `${lacking} has no function cuDeviceTotalMem_v2`,
    });
    const text = join(folder, "driver.c");
    expect(await askDriver(undefined, text)).toMatchObject({ problem: expect.stringContaining("invalid ELF header") as string });
  });

  it("is not asked once the caller has aborted", async () => {
    await expect(askDriver(AbortSignal.abort(), compile("libcuda.so"))).rejects.toMatchObject({ code: "ABORTED" });
  });
});
