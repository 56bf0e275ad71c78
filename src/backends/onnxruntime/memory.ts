/** onnxruntime's memory settings, which are both on by default. */
import type { LoadSettings } from "../../contract/backend.ts";

/** Session options for `memoryPattern` and `memoryArena`. */
export function memorySessionOptions({ memoryPattern, memoryArena }: LoadSettings): Record<string, boolean> {
  return {
    ...(memoryPattern === undefined ? {} : { enableMemPattern: memoryPattern }),
    ...(memoryArena === undefined ? {} : { enableCpuMemArena: memoryArena }),
  };
}
