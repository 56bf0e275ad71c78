/** The home folder of the user. */
import { homedir } from "node:os";

/** Absolute path of the home folder: `/` for a user whom the system does not know and whose HOME is not set, as in a container that is started with a uid of its own. Never throws. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
