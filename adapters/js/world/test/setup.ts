// The suite uses Promise.withResolvers, which Node has from version 22 on.
const promise = Promise as unknown as { withResolvers?: () => unknown }
promise.withResolvers ??= () => {
  let resolve: unknown
  let reject: unknown
  const made = new Promise((a, b) => { resolve = a; reject = b })
  return { promise: made, resolve, reject }
}
export {}
