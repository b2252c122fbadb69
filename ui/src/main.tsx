import { render } from 'preact'
import { App } from './app/app.js'
import './style/main.css'

render(<App />, document.getElementById('app')!)
