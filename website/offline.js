// Keeps what the site has loaded, so that it works without a network. The build puts the name in.
const CACHE = "turnspec-site";
const FILES = [];

self.addEventListener("install", (event) => event.waitUntil(begin()));
self.addEventListener("activate", (event) => event.waitUntil(tidy()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && new URL(url).origin === location.origin) event.respondWith(answer(event));
});

// What a page had loaded before this worker was there; all else is kept as it is loaded.
async function begin() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES);
  await self.skipWaiting();
}

// Caches of other builds are none of this one's.
async function tidy() {
  for (const name of await caches.keys()) {
    if (name.startsWith("turnspec-site") && name !== CACHE) await caches.delete(name);
  }
  await clients.claim();
}

// A build's files never change, so what was kept of this build is as good as new.
async function answer({ request }) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const found = await fetch(request);
  if (found.ok && found.type === "basic") await cache.put(request, found.clone());
  return found;
}
