import { Dialog } from '../parts/dialog.js'
import { pages } from '../pages/index.js'
import { helpOpen } from './keys.js'

/** The dialog with the keys. */
export function Help() {
  if (!helpOpen.value) return null
  const close = (): void => {
    helpOpen.value = false
  }
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {pages.filter((p) => p.jump).map((p) => <div key={p.path}><dt><kbd>g</kbd> <kbd>{p.jump}</kbd></dt><dd>{p.title}</dd></div>)}
        <div><dt><kbd>/</kbd></dt><dd>Search on this page</dd></div>
        <div><dt><kbd>?</kbd></dt><dd>These keys</dd></div>
        <div><dt><kbd>Esc</kbd></dt><dd>Close a dialog, leave the search</dd></div>
      </dl>
      <div class="buttons"><button type="button" onClick={close}>Close</button></div>
    </Dialog>
  )
}
