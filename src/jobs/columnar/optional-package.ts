/** Packages that only some formats need. */
import { InferyardError, getMessage } from "../../contract/errors.ts";

/** Imports a package. Throws NOT_BUILT with the command that installs it if it is missing. */
export async function importFormatPackage<Module>(names: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const message = `files of this format need ${names}, which is not installed: ${getMessage(cause)}`;
    throw new InferyardError("NOT_BUILT", message, { remedy: `npm install ${names}`, cause });
  }
}
