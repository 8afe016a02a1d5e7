// A short fuzz with whatever build there is; `make fuzz-viewer` is the long one with sanitizers.
import { test } from "node:test";
import { fuzzBoth } from "./fuzz.mjs";

const seconds = Number(process.env.MOREAU_FUZZ_SECONDS ?? 8);

test(`servers survive ${seconds} s of broken HTTP and websocket input`, async (t) => {
  const counts = await fuzzBoth(seconds, Number(process.env.SEED ?? 1));
  t.diagnostic(`${counts.join(" and ")} connections`);
});
