provider "registry.opentofu.org/hashicorp/random" {
  version     = "3.6.3"
  constraints = "~> 3.6"
  hashes = [
    "h1:Fnaec9vA8sZ8BXVlN3Xn9Jz3zghSETIKg7ch8oXhxno=",
    "zh:04ceb65210251339f07cd4611885d242cd4d0c7306e86dda9785396807c00451",
  ]
}

module "network" {
  source = "git::https://git.example.com/network.git?ref=v1.2.0"
  hashes = [
    "git:0123456789abcdef0123456789abcdef01234567",
    "h1:0sSiMAGVt2nBJk4Tu7mElW6A1VHATrGax0yUrDXOb9s=",
  ]
}
