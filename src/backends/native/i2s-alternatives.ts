/** The orders of codes that a file leaves open for its weights in I2_S. */
import type { LoadAlternative, LoadSettings, ModelFiles } from "../../contract/backend.ts";
import { possibleI2SLayouts } from "../../formats/gguf/models/i2s-layout.ts";
import { readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { getNativeSettings } from "../../kernels/native-settings.ts";

/** See `Backend.alternatives`, for a GGUF file. Throws as `readGgufModel` and `possibleI2SLayouts` do. */
export async function i2sAlternatives({ path }: ModelFiles, settings: LoadSettings): Promise<readonly LoadAlternative[]> {
  if (getNativeSettings(settings).i2sLayout !== undefined) return [];
  const layouts = possibleI2SLayouts(await readGgufModel(path, path));
  if (layouts.length < 2) return [];
  return layouts.map((i2sLayout) => ({ name: `I2_S weights in the layout ${i2sLayout}`, engine: { i2sLayout } }));
}
