/**
 * Schemas of the settings, made from their tables. `npm run schemas` makes schemas/settings.json from them. The schema library is slow to load, so this
 * file and its neighbors are imported only when there are settings to check.
 */
import * as z from "zod";
import { getMessage } from "../contract/errors.ts";
import { loadSettings } from "../runtime/options/load-options.ts";
import { constraintOptions } from "../runtime/options/runtime-options.ts";
import { findUnknownName } from "../runtime/targets/known-names.ts";
import { optionSchemas, sizeSchema } from "./option-schema.ts";
import { serverSchema } from "./server-schema.ts";
import { type SettingName, type Settings, settingOptions } from "./settings.ts";
import { xlaSchema } from "./xla-schema.ts";

const targets = z.union([z.string(), z.array(z.string())]).superRefine(refuseUnknownTargets);

/** Adds a validation issue for a list of targets that contains an unknown backend or device name. */
function refuseUnknownTargets(written: string | readonly string[], context: z.RefinementCtx): void {
  try {
    const unknown = findUnknownName(written, []);
    if (unknown !== undefined)
      context.addIssue(`names the ${unknown.kind} "${unknown.name}", and there is none of this name; ${unknown.remedy}`);
  } catch (error) {
    context.addIssue(getMessage(error));
  }
}

const constraintSchemas = {
  priority: z.array(z.string()).min(1, "must name at least one backend, or be left out").superRefine(refuseUnknownTargets),
  prefer: targets,
  target: targets.refine(
    (written) => [written].flat().some((text) => text.trim() !== ""),
    "must name at least one target, or be left out",
  ),
  exclude: targets,
};

const modelSettings = z.strictObject(optionSchemas({ ...constraintOptions, ...loadSettings }, constraintSchemas)).partial();

/** Schema of all settings. */
export const settingsSchema: z.ZodType<Settings> = z
  .strictObject(
    optionSchemas<SettingName>(settingOptions, {
      ...constraintSchemas,
      models: z.record(z.string(), modelSettings),
      maxDeviceMemory: z.record(z.string(), sizeSchema),
      xla: xlaSchema,
      server: serverSchema,
    }),
  )
  .partial() as z.ZodType<Settings>;

/** The JSON schema of inferyard.yaml. Links are removed from the descriptions, since editors show them. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.description !== undefined)
        jsonSchema.description = jsonSchema.description.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
    },
  });
  return { title: "inferyard.yaml", ...schema };
}
