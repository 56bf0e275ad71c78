/** onnxruntime's memory settings, which are both on by default. */
import type { LoadSettings } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";

/** Session options for `memoryPattern` and `memoryArena`. */
export function memorySessionOptions({ memoryPattern, memoryArena }: LoadSettings): Record<string, boolean> {
  return {
    ...omitUndefined({ enableMemPattern: memoryPattern, enableCpuMemArena: memoryArena }),
  };
}
