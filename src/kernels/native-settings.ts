/** Load settings that the engine `native` alone obeys. Users set them beside the settings of all engines; the backend gets them as `LoadSettings.engine`. */
import type { LoadSettings } from "../contract/backend.ts";
import type { NativeSettings } from "./generated-native-settings.ts";

/** Settings of a load as users set them, whatever engine obeys them. */
export interface UserLoadSettings extends Omit<LoadSettings, "engine">, NativeSettings {}

/** The settings of `native` in what its backend is given; the options of loading have checked them. */
export function getNativeSettings({ engine = {} }: LoadSettings): NativeSettings {
  return engine;
}
