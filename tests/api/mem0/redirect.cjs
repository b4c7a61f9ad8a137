// Loaded by Node.js before mem0's own tests, which name no host: sends the requests for mem0's service to the address in MEM0_HOST.
const service = "https://api.mem0.ai";
const send = globalThis.fetch;
globalThis.fetch = (url, options) => send(String(url).startsWith(service) ? process.env.MEM0_HOST + String(url).slice(service.length) : url, options);
