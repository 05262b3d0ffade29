module "network" {
  source = "git::https://git.example.com/network.git?ref=v1.2.0"
}

module "not_locked" {
  source  = "example/labels/null"
  version = "~> 1.0"
}

terraform {
  required_providers {
    random = {
      source  = "hashicorp/random"
      version = "~> 3.6"
    }
  }
}
