from . import framework

framework.install()
