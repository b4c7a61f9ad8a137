/** The built package, required as a CommonJS module. */

import assert = require("node:assert/strict");
import nodeTest = require("node:test");
import varveClient = require("varve-client");

nodeTest.test("the package can be required", async () => {
  assert.match(require.resolve("varve-client"), /dist.cjs.index\.js$/);
  const requests: Parameters<typeof fetch>[0][] = [];
  const varve: varveClient.VarveClient = new varveClient.VarveClient("http://service", {
    apiKey: "k",
    fetch: (url) => {
      requests.push(url);
      return Promise.resolve(Response.json({ tenant: "acme", user: null, scopes: ["read"], schema: "companion", generation: "g1" }));
    },
  });
  assert.equal((await varve.status()).tenant, "acme");
  assert.deepEqual(requests, ["http://service/v1/status"]);
  assert.ok(new varveClient.ServiceUnreachableError("x") instanceof varveClient.VarveClientError);
});
