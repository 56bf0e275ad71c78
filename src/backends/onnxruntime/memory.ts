/** The two settings of onnxruntime's memory; both are on by its own default. */
import type { LoadSettings } from "../../backend.ts";

export function memorySessionOptions({ memoryPattern, memoryArena }: LoadSettings): Record<string, boolean> {
  return {
    ...(memoryPattern === undefined ? {} : { enableMemPattern: memoryPattern }),
    ...(memoryArena === undefined ? {} : { enableCpuMemArena: memoryArena }),
  };
}
