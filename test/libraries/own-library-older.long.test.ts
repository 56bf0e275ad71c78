import { libraryConformance } from "./fixtures/library-conformance.ts";

libraryConformance("older");
